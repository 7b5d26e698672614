// GPU: cuda:90
// RIGHT: clean
// WEAK: race WAR
%acc = arith.constant dense<0.0> : <ACC>
%a = ttg.local_alloc {allocation.offset = 0 : i32} : () -> <NTILE>
%b = ttg.local_alloc {allocation.offset = 8192 : i32} : () -> <NTILE>
%c2 = ttg.local_alloc {allocation.offset = 24576 : i32} : () -> <NTILE>
%e = ttng.warp_group_dot %a, %b, %acc {inputPrecision = 0 : i32, isAsync = true} : <NTILE> * <NTILE> -> <ACC>
%f = ttng.warp_group_dot %c2, %b, %acc {inputPrecision = 0 : i32, isAsync = true} : <NTILE> * <NTILE> -> <ACC>
%w:2 = ttng.warp_group_dot_wait %e, %f {pendings = 1 : i32} : <ACC>, <ACC>   //@ RIGHT
%w:2 = ttng.warp_group_dot_wait %e, %f {pendings = 2 : i32} : <ACC>, <ACC>   //@ WEAK
ttg.barrier local
ttg.local_store %x, %a : <TENSOR> -> <NTILE>
