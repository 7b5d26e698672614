// Rows of a tile are apart.
// GIVEN: %h: tensor<32x64xf16, #b>
// RIGHT: clean
// RACY: race RAW
%m = ttg.local_alloc {allocation.offset = 0 : i32} : () -> <TILE>
%u = ttg.memdesc_subslice %m[0, 0] : <TILE> -> !ttg.memdesc<32x64xf16, #s, #smem, mutable, 64x64>
%v = ttg.memdesc_subslice %m[32, 0] : <TILE> -> !ttg.memdesc<32x64xf16, #s, #smem, mutable, 64x64>  //@ RIGHT
%v = ttg.memdesc_subslice %m[0, 0] : <TILE> -> !ttg.memdesc<32x64xf16, #s, #smem, mutable, 64x64>   //@ RACY
ttg.local_store %h, %u : tensor<32x64xf16, #b> -> !ttg.memdesc<32x64xf16, #s, #smem, mutable, 64x64>
%y = ttg.local_load %v : !ttg.memdesc<32x64xf16, #s, #smem, mutable, 64x64> -> tensor<32x64xf16, #b>
