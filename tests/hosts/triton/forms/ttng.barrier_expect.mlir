// As many bytes as are copied: with more, nobody comes through; with less, someone may come through early, or the
// phase after that is counted wrong.
// GPU: cuda:90
// GIVEN: %d: <DESC>
// RIGHT: clean
// MORE: stuck
// LESS: early arrival, stuck
// NONE: early arrival, race RAW, race WAW
%zero = arith.constant 0 : i32
%yes = arith.constant true
%bar = ttg.local_alloc {allocation.offset = 16384 : i32} : () -> <OBJECT>
%m = ttg.local_alloc {allocation.offset = 0 : i32} : () -> <NTILE>
ttng.init_barrier %bar, 1 : <OBJECT>
ttg.barrier local
ttng.barrier_expect %bar, 8192, %yes : <OBJECT>                     //@ RIGHT
ttng.barrier_expect %bar, 16384, %yes : <OBJECT>                    //@ MORE
ttng.barrier_expect %bar, 4096, %yes : <OBJECT>                     //@ LESS
ttng.arrive_barrier %bar, 1 : <OBJECT>                              //@ NONE
ttng.async_tma_copy_global_to_local %d[%zero, %zero] %m, %bar, %yes : <DESC>, <OBJECT> -> <NTILE>
ttng.wait_barrier %bar, %zero : <OBJECT>
%y = ttg.local_load %m : <NTILE> -> <TENSOR>
ttg.barrier local
ttng.inval_barrier %bar : <OBJECT>
