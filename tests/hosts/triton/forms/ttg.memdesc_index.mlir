// Slots of a ring are apart.
// RIGHT: clean
// RACY: race RAW
%zero = arith.constant 0 : i32
%one = arith.constant 1 : i32
%m = ttg.local_alloc {allocation.offset = 0 : i32} : () -> <RING>
%u = ttg.memdesc_index %m[%zero] : <RING> -> <TILE>
%v = ttg.memdesc_index %m[%one] : <RING> -> <TILE>                  //@ RIGHT
%v = ttg.memdesc_index %m[%zero] : <RING> -> <TILE>                 //@ RACY
ttg.local_store %x, %u : <TENSOR> -> <TILE>
%y = ttg.local_load %v : <TILE> -> <TENSOR>
