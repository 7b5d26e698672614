// A copy out reads the tile until its group was waited for.
// GPU: hip:gfx1250
// RIGHT: clean
// UNWAITED: race WAR
// ALONE: race WAR
%m = ttg.local_alloc {allocation.offset = 0 : i32} : () -> <TILE>
%a = amdg.async_copy_local_to_global %m, %p : <TILE> -> <POINTERS>
%g = ttg.async_commit_group tokens %a
%w = ttg.async_wait %g {num = 0 : i32}                              //@ RIGHT, ALONE
ttg.barrier local                                                   //@ RIGHT, UNWAITED
ttg.local_store %x, %m : <TENSOR> -> <TILE>
