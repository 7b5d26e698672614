// Every thread of every wave arrives: 128 arrivals. What initializes the object ends in a barrier.
// GPU: hip:gfx1250
// RIGHT: clean
// MISSING: stuck
// MANY: stuck
// AGAIN: race WAW, stuck
%zero = arith.constant 0 : i32
%bar = ttg.local_alloc {allocation.offset = 16384 : i32} : () -> <OBJECT>
amdg.init_barrier %bar, 128 : <OBJECT>                              //@ RIGHT, AGAIN
amdg.init_barrier %bar, 256 : <OBJECT>                              //@ MANY
%one = amdg.arrive_barrier %bar, 1 : <OBJECT> -> i32
amdg.init_barrier %bar, 128 : <OBJECT>                              //@ AGAIN
amdg.wait_barrier %bar, %zero : <OBJECT>
