// A tile of two messages is issued by two warps. The second may only begin once the object is there for it, too.
// GPU: cuda:90
// GIVEN: %d: <WIDEDESC>
// RIGHT: clean
// BYTES: stuck
// UNMET: race RAW
%zero = arith.constant 0 : i32
%yes = arith.constant true
%bar = ttg.local_alloc {allocation.offset = 16384 : i32} : () -> <OBJECT>
%m = ttg.local_alloc {allocation.offset = 0 : i32} : () -> <WIDE>
ttng.init_barrier %bar, 1 : <OBJECT>
ttng.async_tma_copy_global_to_local %d[%zero, %zero] %m, %bar, %yes : <WIDEDESC>, <OBJECT> -> <WIDE>  //@ UNMET
ttng.barrier_expect %bar, 16384, %yes : <OBJECT>                    //@ RIGHT, UNMET
ttng.barrier_expect %bar, 32768, %yes : <OBJECT>                    //@ BYTES
ttng.async_tma_copy_global_to_local %d[%zero, %zero] %m, %bar, %yes : <WIDEDESC>, <OBJECT> -> <WIDE>  //@ RIGHT, BYTES
ttng.wait_barrier %bar, %zero : <OBJECT>
ttg.barrier local
ttng.inval_barrier %bar : <OBJECT>
