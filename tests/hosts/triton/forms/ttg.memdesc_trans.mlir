// The other way round, the bytes are the same.
// RIGHT: clean
// RACY: race RAW
%m = ttg.local_alloc {allocation.offset = 0 : i32} : () -> <TILE>
ttg.local_store %x, %m : <TENSOR> -> <TILE>
ttg.barrier local                                                   //@ RIGHT
%v = ttg.memdesc_trans %m {order = array<i32: 1, 0>} : <TILE> -> !ttg.memdesc<64x64xf16, #o, #smem, mutable>
%y = ttg.local_load %v : !ttg.memdesc<64x64xf16, #o, #smem, mutable> -> <TENSOR>
