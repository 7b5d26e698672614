// A wait is for a phase: the one that the copy ends. The other one has ended before it began.
// GPU: cuda:90
// GIVEN: %d: <DESC>
// RIGHT: clean
// MISSING: race RAW, race WAW
// PHASE: missed phase, race RAW, race WAW
// NEXT: stuck
%zero = arith.constant 0 : i32
%yes = arith.constant true
%bar = ttg.local_alloc {allocation.offset = 16384 : i32} : () -> <OBJECT>
%m = ttg.local_alloc {allocation.offset = 0 : i32} : () -> <NTILE>
%one = arith.constant 1 : i32
ttng.init_barrier %bar, 1 : <OBJECT>
ttg.barrier local
ttng.barrier_expect %bar, 8192, %yes : <OBJECT>
ttng.async_tma_copy_global_to_local %d[%zero, %zero] %m, %bar, %yes : <DESC>, <OBJECT> -> <NTILE>
ttng.wait_barrier %bar, %zero : <OBJECT>                            //@ RIGHT, NEXT
ttng.wait_barrier %bar, %one : <OBJECT>                             //@ PHASE, NEXT
%y = ttg.local_load %m : <NTILE> -> <TENSOR>
ttg.barrier local
ttng.inval_barrier %bar : <OBJECT>
