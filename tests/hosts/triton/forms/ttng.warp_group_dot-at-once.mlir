// Without isAsync it has read when it ends; the tile has to be there when it begins.
// GPU: cuda:90
// RIGHT: clean
// RACY: race RAW
%acc = arith.constant dense<0.0> : <ACC>
%a = ttg.local_alloc {allocation.offset = 0 : i32} : () -> <NTILE>
%b = ttg.local_alloc {allocation.offset = 8192 : i32} : () -> <NTILE>
ttg.local_store %x, %a : <TENSOR> -> <NTILE>
ttg.barrier local                                                   //@ RIGHT
%e = ttng.warp_group_dot %a, %b, %acc {inputPrecision = 0 : i32} : <NTILE> * <NTILE> -> <ACC>
