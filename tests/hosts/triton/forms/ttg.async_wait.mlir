// Two groups are under way; what is read is the older one.
// RIGHT: clean
// WEAK: race RAW
%m = ttg.local_alloc {allocation.offset = 0 : i32} : () -> <TILE>
%o = ttg.local_alloc {allocation.offset = 8192 : i32} : () -> <TILE>
%a = ttg.async_copy_global_to_local %p, %m : <POINTERS> -> <TILE>
%g = ttg.async_commit_group tokens %a
%b = ttg.async_copy_global_to_local %p, %o : <POINTERS> -> <TILE>
%h = ttg.async_commit_group tokens %b
%w = ttg.async_wait %g {num = 1 : i32}                              //@ RIGHT
%w = ttg.async_wait %g {num = 2 : i32}                              //@ WEAK
ttg.barrier local
%y = ttg.local_load %m : <TILE> -> <TENSOR>
