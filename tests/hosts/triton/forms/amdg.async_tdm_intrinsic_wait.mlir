// Stores and loads go through one engine, in order.
// GPU: hip:gfx1250
// GIVEN: %d: <TDESC>
// RIGHT: clean
// WEAK: race WAR
%m = ttg.local_alloc {allocation.offset = 0 : i32} : () -> <TILE>
%o = ttg.local_alloc {allocation.offset = 8192 : i32} : () -> <TILE>
%a = amdg.async_tdm_copy_local_to_global %d from %m : <TILE> -> <TDESC>
%b = amdg.async_tdm_copy_global_to_local %d into %o : <TDESC> -> <TILE>
%w = amdg.async_tdm_intrinsic_wait {count = 1 : i32}                //@ RIGHT
%w = amdg.async_tdm_intrinsic_wait {count = 2 : i32}                //@ WEAK
ttg.barrier local
ttg.local_store %x, %m : <TENSOR> -> <TILE>
