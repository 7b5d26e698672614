// The phase alternates from trip to trip.
// GPU: cuda:90
// GIVEN: %d: <DESC>
// RIGHT: clean
// SAME: early arrival, missed phase, race RAW
%zero = arith.constant 0 : i32
%one = arith.constant 1 : i32
%two = arith.constant 2 : i32
%yes = arith.constant true
%bar = ttg.local_alloc {allocation.offset = 16384 : i32} : () -> <OBJECT>
%m = ttg.local_alloc {allocation.offset = 0 : i32} : () -> <NTILE>
ttng.init_barrier %bar, 1 : <OBJECT>
ttg.barrier local
scf.for %i = %zero to %n step %one : i32 {
  %phase = arith.remsi %i, %two : i32                               //@ RIGHT
  ttng.barrier_expect %bar, 8192, %yes : <OBJECT>
  ttng.async_tma_copy_global_to_local %d[%zero, %zero] %m, %bar, %yes : <DESC>, <OBJECT> -> <NTILE>
  ttng.wait_barrier %bar, %phase : <OBJECT>                         //@ RIGHT
  ttng.wait_barrier %bar, %zero : <OBJECT>                          //@ SAME
  %y = ttg.local_load %m : <NTILE> -> <TENSOR>
  ttg.barrier local
}
