// An object is there once it was initialized, for the others once they have met who did it; and once.
// GPU: cuda:90
// GIVEN: %d: <DESC>
// RIGHT: clean
// UNMET: race RAW
// MISSING: stuck
// TWICE: lifetime
// MANY: stuck
%zero = arith.constant 0 : i32
%yes = arith.constant true
%bar = ttg.local_alloc {allocation.offset = 16384 : i32} : () -> <OBJECT>
%m = ttg.local_alloc {allocation.offset = 0 : i32} : () -> <NTILE>
ttng.init_barrier %bar, 1 : <OBJECT>                                //@ RIGHT, UNMET, TWICE
ttng.init_barrier %bar, 2 : <OBJECT>                                //@ MANY
ttg.barrier local                                                   //@ RIGHT, MISSING, TWICE, MANY
ttng.init_barrier %bar, 1 : <OBJECT>                                //@ TWICE
ttg.barrier local                                                   //@ TWICE
%one = arith.constant 1 : i32                                       //@ UNMET
ttng.wait_barrier %bar, %one : <OBJECT>                             //@ UNMET
ttng.barrier_expect %bar, 8192, %yes : <OBJECT>
ttng.async_tma_copy_global_to_local %d[%zero, %zero] %m, %bar, %yes : <DESC>, <OBJECT> -> <NTILE>
ttng.wait_barrier %bar, %zero : <OBJECT>
%y = ttg.local_load %m : <NTILE> -> <TENSOR>
ttg.barrier local
ttng.inval_barrier %bar : <OBJECT>
