// GPU: hip:gfx1250
// GIVEN: %d: <TDESC>
// RIGHT: clean
// UNWAITED: race WAR
%zero = arith.constant 0 : i32
%bar = ttg.local_alloc {allocation.offset = 16384 : i32} : () -> <OBJECT>
%m = ttg.local_alloc {allocation.offset = 0 : i32} : () -> <TILE>
amdg.init_barrier %bar, 4 : <OBJECT>
%a = amdg.async_tdm_copy_local_to_global %d from %m, barrier = %bar : <TILE>, <OBJECT> -> <TDESC>
amdg.wait_barrier %bar, %zero : <OBJECT>                            //@ RIGHT
ttg.local_store %x, %m : <TENSOR> -> <TILE>
