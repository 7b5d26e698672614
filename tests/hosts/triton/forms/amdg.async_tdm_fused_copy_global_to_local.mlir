// One operation, two tiles: both are there once it was waited for.
// GPU: hip:gfx1250
// GIVEN: %d: <TDESC>, %e: <TDESC>
// RIGHT: clean
// RACY: race RAW
%m = ttg.local_alloc {allocation.offset = 0 : i32} : () -> <TILE>
%o = ttg.local_alloc {allocation.offset = 8192 : i32} : () -> <TILE>
%a = amdg.async_tdm_fused_copy_global_to_local %d, %e into %m, %o {warp_used_hints = array<i32: 3, 12>} : <TDESC>, <TDESC> -> <TILE>, <TILE>
%w = amdg.async_tdm_wait {num = 0 : i32}                            //@ RIGHT
%w = amdg.async_tdm_wait {num = 1 : i32}                            //@ RACY
ttg.barrier local
%y = ttg.local_load %o : <TILE> -> <TENSOR>
