// A wave arrives if it has rows of its own. Where waves hold the same rows, only one of them moves them.
// GPU: hip:gfx1250
// GIVEN: %d: <TDESC>, %rows: tensor<64xi32, #amdrows>, %some: tensor<64xi32, #amdparts>
// RIGHT: clean
// FEW: stuck
// REFUSED: not judged
%zero = arith.constant 0 : i32
%bar = ttg.local_alloc {allocation.offset = 16384 : i32} : () -> <OBJECT>
%m = ttg.local_alloc {allocation.offset = 0 : i32} : () -> <TILE>
amdg.init_barrier %bar, 4 : <OBJECT>                                //@ RIGHT, REFUSED
amdg.init_barrier %bar, 8 : <OBJECT>                                //@ FEW
%a = amdg.async_tdm_gather %d[%some] to %m, barrier = %bar : tensor<64xi32, #amdparts>, <TILE>, <OBJECT> -> <TDESC>  //@ RIGHT, FEW
%a = amdg.async_tdm_gather %d[%rows] to %m, barrier = %bar : tensor<64xi32, #amdrows>, <TILE>, <OBJECT> -> <TDESC>   //@ REFUSED
amdg.wait_barrier %bar, %zero : <OBJECT>
%y = ttg.local_load %m : <TILE> -> <TENSOR>
