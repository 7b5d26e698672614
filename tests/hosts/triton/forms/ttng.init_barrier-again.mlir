// An object that is made again in every trip ends in every trip, once nobody will wait for it.
// GPU: cuda:90
// GIVEN: %d: <DESC>
// RIGHT: clean
// KEPT: lifetime
// UNMET: race RAW, race WAW
%zero = arith.constant 0 : i32
%one = arith.constant 1 : i32
%yes = arith.constant true
%bar = ttg.local_alloc {allocation.offset = 16384 : i32} : () -> <OBJECT>
%m = ttg.local_alloc {allocation.offset = 0 : i32} : () -> <NTILE>
scf.for %i = %zero to %n step %one : i32 {
  ttng.init_barrier %bar, 1 : <OBJECT>
  ttg.barrier local
  ttng.barrier_expect %bar, 8192, %yes : <OBJECT>
  ttng.async_tma_copy_global_to_local %d[%zero, %zero] %m, %bar, %yes : <DESC>, <OBJECT> -> <NTILE>
  ttng.wait_barrier %bar, %zero : <OBJECT>
  %y = ttg.local_load %m : <NTILE> -> <TENSOR>
  ttg.barrier local                                                 //@ RIGHT, KEPT
  ttng.inval_barrier %bar : <OBJECT>                                //@ RIGHT, UNMET
  ttg.barrier local
}
