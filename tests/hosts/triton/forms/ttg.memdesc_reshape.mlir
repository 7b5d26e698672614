// GIVEN: %h: tensor<32x128xf16, #b>
// RIGHT: clean
// RACY: race RAW
%m = ttg.local_alloc {allocation.offset = 0 : i32} : () -> <TILE>
ttg.local_store %x, %m : <TENSOR> -> <TILE>
ttg.barrier local                                                   //@ RIGHT
%v = ttg.memdesc_reshape %m : <TILE> -> !ttg.memdesc<32x128xf16, #s, #smem, mutable>
%y = ttg.local_load %v : !ttg.memdesc<32x128xf16, #s, #smem, mutable> -> tensor<32x128xf16, #b>
