// Only some wait: those that did not have seen nothing.
// GPU: cuda:90
// GIVEN: %d: <DESC>
// RIGHT: clean
// RACY: race RAW
%zero = arith.constant 0 : i32
%yes = arith.constant true
%bar = ttg.local_alloc {allocation.offset = 16384 : i32} : () -> <OBJECT>
%m = ttg.local_alloc {allocation.offset = 0 : i32} : () -> <NTILE>
%more = arith.cmpi sgt, %n, %zero : i32
ttng.init_barrier %bar, 1 : <OBJECT>
ttg.barrier local
ttng.barrier_expect %bar, 8192, %yes : <OBJECT>
ttng.async_tma_copy_global_to_local %d[%zero, %zero] %m, %bar, %yes : <DESC>, <OBJECT> -> <NTILE>
ttng.wait_barrier %bar, %zero : <OBJECT>                                                              //@ RIGHT
ttng.wait_barrier %bar, %zero, %more : <OBJECT>                     //@ RACY
%y = ttg.local_load %m : <NTILE> -> <TENSOR>
ttng.wait_barrier %bar, %zero : <OBJECT>
ttg.barrier local
ttng.inval_barrier %bar : <OBJECT>
