// The engine works in order: one that may be outstanding is the younger one.
// GPU: hip:gfx1250
// GIVEN: %d: <TDESC>
// RIGHT: clean
// WEAK: race RAW
%m = ttg.local_alloc {allocation.offset = 0 : i32} : () -> <TILE>
%o = ttg.local_alloc {allocation.offset = 8192 : i32} : () -> <TILE>
%a = amdg.async_tdm_copy_global_to_local %d into %m : <TDESC> -> <TILE>
%b = amdg.async_tdm_copy_global_to_local %d into %o : <TDESC> -> <TILE>
%w = amdg.async_tdm_wait {num = 1 : i32}                            //@ RIGHT
%w = amdg.async_tdm_wait {num = 2 : i32}                            //@ WEAK
ttg.barrier local
%y = ttg.local_load %m : <TILE> -> <TENSOR>
