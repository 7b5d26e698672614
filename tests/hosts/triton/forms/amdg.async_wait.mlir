// It counts instructions: a copy of 8 KiB by 128 lanes is four of them, or more.
// GPU: hip:gfx1250
// RIGHT: clean
// WEAK: race RAW
%m = ttg.local_alloc {allocation.offset = 0 : i32} : () -> <TILE>
%o = ttg.local_alloc {allocation.offset = 8192 : i32} : () -> <TILE>
%a = ttg.async_copy_global_to_local %p, %m : <POINTERS> -> <TILE>
%b = ttg.async_copy_global_to_local %p, %o : <POINTERS> -> <TILE>
%w = amdg.async_wait {num_inst = 4 : i32}                           //@ RIGHT
%w = amdg.async_wait {num_inst = 5 : i32}                           //@ WEAK
ttg.barrier local
%y = ttg.local_load %m : <TILE> -> <TENSOR>
