// Slots of a ring are apart, whatever they are cut out with.
// RIGHT: clean
// RACY: race RAW
%zero = arith.constant 0 : i32
%one = arith.constant 1 : i32
%m = ttg.local_alloc {allocation.offset = 0 : i32} : () -> <RING>
%l = ttg.memdesc_subslice %m[1, 0, 0] : <RING> -> !ttg.memdesc<2x64x64xf16, #s, #smem, mutable, 3x64x64>
%u = ttg.memdesc_index %l[%zero] : !ttg.memdesc<2x64x64xf16, #s, #smem, mutable, 3x64x64> -> <TILE>
%v = ttg.memdesc_index %m[%zero] : <RING> -> <TILE>                 //@ RIGHT
%v = ttg.memdesc_index %m[%one] : <RING> -> <TILE>                  //@ RACY
ttg.local_store %x, %u : <TENSOR> -> <TILE>
%y = ttg.local_load %v : <TILE> -> <TENSOR>
