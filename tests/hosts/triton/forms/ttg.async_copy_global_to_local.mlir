// A copy has written once its group was waited for, by the waves that started it; the others have to meet them.
// RIGHT: clean
// UNWAITED: race RAW
// ALONE: race RAW
// OVERTAKEN: race WAR
%m = ttg.local_alloc {allocation.offset = 0 : i32} : () -> <TILE>
%z = ttg.local_load %m : <TILE> -> <TENSOR>                         //@ OVERTAKEN
%a = ttg.async_copy_global_to_local %p, %m : <POINTERS> -> <TILE>
%g = ttg.async_commit_group tokens %a
%w = ttg.async_wait %g {num = 0 : i32}                              //@ RIGHT, ALONE, OVERTAKEN
ttg.barrier local                                                   //@ RIGHT, UNWAITED, OVERTAKEN
%y = ttg.local_load %m : <TILE> -> <TENSOR>
