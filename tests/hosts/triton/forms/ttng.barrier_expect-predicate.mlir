// Who expects and who copies has to be asked the same.
// GPU: cuda:90
// GIVEN: %d: <DESC>
// RIGHT: clean
// OTHER: race WAW, stuck
%zero = arith.constant 0 : i32
%yes = arith.constant true
%bar = ttg.local_alloc {allocation.offset = 16384 : i32} : () -> <OBJECT>
%m = ttg.local_alloc {allocation.offset = 0 : i32} : () -> <NTILE>
%more = arith.cmpi sgt, %n, %zero : i32
%none = arith.cmpi sle, %n, %zero : i32                             //@ OTHER
ttng.init_barrier %bar, 1 : <OBJECT>
ttg.barrier local
ttng.barrier_expect %bar, 8192, %more : <OBJECT>
ttng.async_tma_copy_global_to_local %d[%zero, %zero] %m, %bar, %more : <DESC>, <OBJECT> -> <NTILE>   //@ RIGHT
ttng.async_tma_copy_global_to_local %d[%zero, %zero] %m, %bar, %none : <DESC>, <OBJECT> -> <NTILE>   //@ OTHER
ttng.wait_barrier %bar, %zero, %more : <OBJECT>
ttg.barrier local
ttng.inval_barrier %bar : <OBJECT>
