// The tile has to be free when the engine begins to write it, and is there once its bytes have come.
// GPU: cuda:90
// GIVEN: %d: <DESC>
// RIGHT: clean
// UNWAITED: race RAW, race WAW
// OVERTAKEN: race WAR
%zero = arith.constant 0 : i32
%yes = arith.constant true
%bar = ttg.local_alloc {allocation.offset = 16384 : i32} : () -> <OBJECT>
%m = ttg.local_alloc {allocation.offset = 0 : i32} : () -> <NTILE>
ttng.init_barrier %bar, 1 : <OBJECT>
ttg.barrier local
%z = ttg.local_load %m : <NTILE> -> <TENSOR>
ttg.barrier local                                                   //@ RIGHT, UNWAITED
ttng.async_tma_copy_global_to_local %d[%zero, %zero] %m, %bar, %yes : <DESC>, <OBJECT> -> <NTILE>                                                              //@ OVERTAKEN
ttng.barrier_expect %bar, 8192, %yes : <OBJECT>
ttng.async_tma_copy_global_to_local %d[%zero, %zero] %m, %bar, %yes : <DESC>, <OBJECT> -> <NTILE>                                                              //@ RIGHT, UNWAITED
ttng.wait_barrier %bar, %zero : <OBJECT>                                                              //@ RIGHT, OVERTAKEN
%y = ttg.local_load %m : <NTILE> -> <TENSOR>
ttg.barrier local
ttng.inval_barrier %bar : <OBJECT>
