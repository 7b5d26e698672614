// A wait is for groups: a copy that is in none is not waited for. A group may be empty, and counts all the same.
// RIGHT: clean
// EMPTY: clean
// NONE: race RAW
// BEHIND: race RAW
%m = ttg.local_alloc {allocation.offset = 0 : i32} : () -> <TILE>
%a = ttg.async_copy_global_to_local %p, %m : <POINTERS> -> <TILE>
%g = ttg.async_commit_group tokens %a                               //@ RIGHT, EMPTY
%h = ttg.async_commit_group                                         //@ EMPTY
%w = ttg.async_wait {num = 0 : i32}                                 //@ RIGHT, NONE, BEHIND
%w = ttg.async_wait {num = 1 : i32}                                 //@ EMPTY
%k = ttg.async_commit_group tokens %a                               //@ BEHIND
ttg.barrier local
%y = ttg.local_load %m : <TILE> -> <TENSOR>
