// GPU: hip:gfx1250
// GIVEN: %d: <TDESC>
// RIGHT: clean
// UNWAITED: race WAR
// ALONE: race WAR
%m = ttg.local_alloc {allocation.offset = 0 : i32} : () -> <TILE>
%a = amdg.async_tdm_copy_local_to_global %d from %m : <TILE> -> <TDESC>
%w = amdg.async_tdm_wait {num = 0 : i32}                            //@ RIGHT, ALONE
ttg.barrier local                                                   //@ RIGHT, UNWAITED
ttg.local_store %x, %m : <TENSOR> -> <TILE>
