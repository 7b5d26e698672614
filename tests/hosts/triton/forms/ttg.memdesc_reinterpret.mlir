// The second of two large slots is the third and the fourth of four small ones.
// RIGHT: clean
// RACY: race RAW
%zero = arith.constant 0 : i32
%one = arith.constant 1 : i32
%two = arith.constant 2 : i32
%m = ttg.local_alloc {allocation.offset = 0 : i32} : () -> !ttg.memdesc<4x64x64xf16, #s, #smem, mutable>
%u = ttg.memdesc_index %m[%one] : !ttg.memdesc<4x64x64xf16, #s, #smem, mutable> -> <TILE>    //@ RIGHT
%u = ttg.memdesc_index %m[%two] : !ttg.memdesc<4x64x64xf16, #s, #smem, mutable> -> <TILE>    //@ RACY
ttg.local_store %x, %u : <TENSOR> -> <TILE>
%o = ttg.memdesc_reinterpret %m : !ttg.memdesc<4x64x64xf16, #s, #smem, mutable> -> !ttg.memdesc<2x128x64xf16, #s, #smem, mutable>
%v = ttg.memdesc_index %o[%one] : !ttg.memdesc<2x128x64xf16, #s, #smem, mutable> -> !ttg.memdesc<128x64xf16, #s, #smem, mutable>
%y = ttg.local_load %v : !ttg.memdesc<128x64xf16, #s, #smem, mutable> -> tensor<128x64xf16, #b>
