// An object ends once nobody will use it again; its bytes are free from there on, and not before.
// GPU: cuda:90
// GIVEN: %d: <DESC>
// RIGHT: clean
// EARLY: lifetime, race WAW
// UNMET: race WAW
// USED: lifetime
// KEPT: lifetime
%zero = arith.constant 0 : i32
%yes = arith.constant true
%bar = ttg.local_alloc {allocation.offset = 16384 : i32} : () -> <OBJECT>
%m = ttg.local_alloc {allocation.offset = 0 : i32} : () -> <NTILE>
ttng.init_barrier %bar, 1 : <OBJECT>
ttg.barrier local
ttng.barrier_expect %bar, 8192, %yes : <OBJECT>
ttng.async_tma_copy_global_to_local %d[%zero, %zero] %m, %bar, %yes : <DESC>, <OBJECT> -> <NTILE>
ttg.barrier local                                                   //@ EARLY
ttng.inval_barrier %bar : <OBJECT>                                  //@ EARLY
ttg.barrier local                                                   //@ EARLY
ttng.wait_barrier %bar, %zero : <OBJECT>
ttg.barrier local                                                   //@ RIGHT, USED, KEPT
ttng.inval_barrier %bar : <OBJECT>                                  //@ RIGHT, UNMET, USED
ttg.barrier local                                                   //@ RIGHT, UNMET, USED
ttng.wait_barrier %bar, %zero : <OBJECT>                                                              //@ USED
%other = ttg.local_alloc %x {allocation.offset = 16384 : i32} : (<TENSOR>) -> <TILE>   //@ RIGHT, KEPT
