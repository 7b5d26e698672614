// A wait counts groups: without an end of its own, the first copy is in the group of the second.
// RIGHT: clean
// RACY: race RAW
%m = ttg.local_alloc {allocation.offset = 0 : i32} : () -> <TILE>
%o = ttg.local_alloc {allocation.offset = 8192 : i32} : () -> <TILE>
%a = ttg.async_copy_global_to_local %p, %m : <POINTERS> -> <TILE>
%g = ttg.async_commit_group tokens %a                               //@ RIGHT
%b = ttg.async_copy_global_to_local %p, %o : <POINTERS> -> <TILE>
%h = ttg.async_commit_group tokens %b
%w = ttg.async_wait {num = 1 : i32}
ttg.barrier local
%y = ttg.local_load %m : <TILE> -> <TENSOR>
