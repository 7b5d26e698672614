// GPU: hip:gfx1250
// GIVEN: %d: <TDESC>
// RIGHT: clean
// UNWAITED: race RAW
// ALONE: race RAW
%m = ttg.local_alloc {allocation.offset = 0 : i32} : () -> <TILE>
%a = amdg.async_tdm_copy_global_to_local %d into %m : <TDESC> -> <TILE>
%w = amdg.async_tdm_wait {num = 0 : i32}                            //@ RIGHT, ALONE
ttg.barrier local                                                   //@ RIGHT, UNWAITED
%y = ttg.local_load %m : <TILE> -> <TENSOR>
