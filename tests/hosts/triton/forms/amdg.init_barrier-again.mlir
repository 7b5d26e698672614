// An object may be made anew once nobody can still wait for it.
// GPU: hip:gfx1250
// RIGHT: clean
// UNMET: race WAW, stuck
%zero = arith.constant 0 : i32
%bar = ttg.local_alloc {allocation.offset = 16384 : i32} : () -> <OBJECT>
amdg.init_barrier %bar, 128 : <OBJECT>
%a = amdg.arrive_barrier %bar, 1 : <OBJECT> -> i32
amdg.wait_barrier %bar, %zero : <OBJECT>
ttg.barrier local                                                   //@ RIGHT
amdg.init_barrier %bar, 128 : <OBJECT>
%b = amdg.arrive_barrier %bar, 1 : <OBJECT> -> i32
amdg.wait_barrier %bar, %zero : <OBJECT>
