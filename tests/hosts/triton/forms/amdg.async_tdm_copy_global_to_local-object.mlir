// Every wave moves its part and arrives once with it.
// GPU: hip:gfx1250
// GIVEN: %d: <TDESC>
// RIGHT: clean
// FEW: stuck
// UNWAITED: race RAW
// OVERTAKEN: race WAR
%zero = arith.constant 0 : i32
%bar = ttg.local_alloc {allocation.offset = 16384 : i32} : () -> <OBJECT>
%m = ttg.local_alloc {allocation.offset = 0 : i32} : () -> <TILE>
amdg.init_barrier %bar, 4 : <OBJECT>                                //@ RIGHT, UNWAITED, OVERTAKEN
amdg.init_barrier %bar, 5 : <OBJECT>                                //@ FEW
%z = ttg.local_load %m : <TILE> -> <TENSOR>
ttg.barrier local                                                   //@ RIGHT, FEW, UNWAITED
%a = amdg.async_tdm_copy_global_to_local %d into %m, barrier = %bar : <TDESC>, <OBJECT> -> <TILE>
amdg.wait_barrier %bar, %zero : <OBJECT>                            //@ RIGHT, FEW, OVERTAKEN
%y = ttg.local_load %m : <TILE> -> <TENSOR>
