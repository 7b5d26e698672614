// Sixteen rows of each wave are two instructions: two of the second gather may be outstanding, and the first is done.
// GPU: hip:gfx1250
// GIVEN: %d: <TDESC>, %rows: tensor<64xi32, #amdrows>, %some: tensor<64xi32, #amdparts>
// RIGHT: clean
// WEAK: race RAW
%m = ttg.local_alloc {allocation.offset = 0 : i32} : () -> <TILE>
%o = ttg.local_alloc {allocation.offset = 8192 : i32} : () -> <TILE>
%a = amdg.async_tdm_gather %d[%some] to %m : tensor<64xi32, #amdparts>, <TILE> -> <TDESC>
%b = amdg.async_tdm_gather %d[%some] to %o : tensor<64xi32, #amdparts>, <TILE> -> <TDESC>
%w = amdg.async_tdm_intrinsic_wait {count = 2 : i32}                //@ RIGHT
%w = amdg.async_tdm_intrinsic_wait {count = 3 : i32}                //@ WEAK
ttg.barrier local
%y = ttg.local_load %m : <TILE> -> <TENSOR>
