// Arriving says that what stands before is done.
// GPU: hip:gfx1250
// RIGHT: clean
// EARLY: race RAW
// NONE: stuck
%zero = arith.constant 0 : i32
%bar = ttg.local_alloc {allocation.offset = 16384 : i32} : () -> <OBJECT>
%m = ttg.local_alloc {allocation.offset = 0 : i32} : () -> <TILE>
amdg.init_barrier %bar, 128 : <OBJECT>
%one = amdg.arrive_barrier %bar, 1 : <OBJECT> -> i32                //@ EARLY
ttg.local_store %x, %m : <TENSOR> -> <TILE>
%two = amdg.arrive_barrier %bar, 1 : <OBJECT> -> i32                //@ RIGHT
amdg.wait_barrier %bar, %zero : <OBJECT>
%y = ttg.local_load %m : <TILE> -> <TENSOR>
