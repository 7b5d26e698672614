// GPU: hip:gfx1250
// RIGHT: clean
// BEFORE: race RAW
// FEW: stuck
%zero = arith.constant 0 : i32
%bar = ttg.local_alloc {allocation.offset = 16384 : i32} : () -> <OBJECT>
%m = ttg.local_alloc {allocation.offset = 0 : i32} : () -> <TILE>
amdg.init_barrier %bar, 128 : <OBJECT>                              //@ RIGHT, BEFORE
amdg.init_barrier %bar, 256 : <OBJECT>                              //@ FEW
amdg.async_copy_mbarrier_arrive %bar : <OBJECT>                     //@ BEFORE
%a = ttg.async_copy_global_to_local %p, %m : <POINTERS> -> <TILE>
amdg.async_copy_mbarrier_arrive %bar : <OBJECT>                     //@ RIGHT, FEW
amdg.wait_barrier %bar, %zero : <OBJECT>
%y = ttg.local_load %m : <TILE> -> <TENSOR>
