// Two copies of one partition into one tile: the engine takes them in order, but who reads needs both.
// GPU: cuda:90
// GIVEN: %d: <DESC>
// RIGHT: clean
// FIRST: stuck
%zero = arith.constant 0 : i32
%yes = arith.constant true
%bar = ttg.local_alloc {allocation.offset = 16384 : i32} : () -> <OBJECT>
%m = ttg.local_alloc {allocation.offset = 0 : i32} : () -> <NTILE>
ttng.init_barrier %bar, 1 : <OBJECT>
ttg.barrier local
ttng.barrier_expect %bar, 16384, %yes : <OBJECT>
ttng.async_tma_copy_global_to_local %d[%zero, %zero] %m, %bar, %yes : <DESC>, <OBJECT> -> <NTILE>
%o = ttg.local_alloc {allocation.offset = 24576 : i32} : () -> <NTILE>
ttng.async_tma_copy_global_to_local %d[%zero, %zero] %o, %bar, %yes : <DESC>, <OBJECT> -> <NTILE>  //@ RIGHT
ttng.wait_barrier %bar, %zero : <OBJECT>
%y = ttg.local_load %m : <NTILE> -> <TENSOR>
ttg.barrier local
ttng.inval_barrier %bar : <OBJECT>
