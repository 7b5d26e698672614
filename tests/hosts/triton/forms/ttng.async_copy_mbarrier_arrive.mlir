// Every thread arrives, once the copies that it has started are there.
// GPU: cuda:80
// RIGHT: clean
// BEFORE: race RAW
// FEW: stuck
// REFUSED: not judged
%zero = arith.constant 0 : i32
%bar = ttg.local_alloc {allocation.offset = 16384 : i32} : () -> <OBJECT>
%m = ttg.local_alloc {allocation.offset = 0 : i32} : () -> <TILE>
ttng.init_barrier %bar, 128 : <OBJECT>                              //@ RIGHT, BEFORE, REFUSED
ttng.init_barrier %bar, 256 : <OBJECT>                              //@ FEW
ttg.barrier local
ttng.async_copy_mbarrier_arrive %bar {noIncrement} : <OBJECT>     //@ BEFORE
%a = ttg.async_copy_global_to_local %p, %m : <POINTERS> -> <TILE>
ttng.async_copy_mbarrier_arrive %bar {noIncrement} : <OBJECT>     //@ RIGHT, FEW
ttng.async_copy_mbarrier_arrive %bar : <OBJECT>                     //@ REFUSED
ttng.wait_barrier %bar, %zero : <OBJECT>
%y = ttg.local_load %m : <TILE> -> <TENSOR>
