// All waves meet, and nothing says that a store has arrived by then. A copy has, once it was waited for.
// GPU: hip:gfx950
// RIGHT: clean
// STORED: race RAW
// UNWAITED: race RAW
%m = ttg.local_alloc {allocation.offset = 0 : i32} : () -> <TILE>
%a = ttg.async_copy_global_to_local %p, %m : <POINTERS> -> <TILE>   //@ RIGHT, UNWAITED
%g = ttg.async_commit_group tokens %a                               //@ RIGHT, UNWAITED
%w = ttg.async_wait %g {num = 0 : i32}                              //@ RIGHT
ttg.local_store %x, %m : <TENSOR> -> <TILE>                         //@ STORED
rocdl.s.barrier
%y = ttg.local_load %m : <TILE> -> <TENSOR>
