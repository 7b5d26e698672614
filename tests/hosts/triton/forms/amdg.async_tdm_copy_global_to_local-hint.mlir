// Some of the waves move all of it. How many arrive then is not known here.
// GPU: hip:gfx1250
// GIVEN: %d: <TDESC>
// REFUSED: not judged
%zero = arith.constant 0 : i32
%bar = ttg.local_alloc {allocation.offset = 16384 : i32} : () -> <OBJECT>
%m = ttg.local_alloc {allocation.offset = 0 : i32} : () -> <TILE>
amdg.init_barrier %bar, 4 : <OBJECT>
%a = amdg.async_tdm_copy_global_to_local %d into %m, barrier = %bar {warp_used_hint = 3 : i32} : <TDESC>, <OBJECT> -> <TILE>
amdg.wait_barrier %bar, %zero : <OBJECT>
%y = ttg.local_load %m : <TILE> -> <TENSOR>
