// GPU: hip:gfx1250
// RIGHT: clean
// PHASE: missed phase, race RAW
// NEXT: stuck
%zero = arith.constant 0 : i32
%uno = arith.constant 1 : i32
%bar = ttg.local_alloc {allocation.offset = 16384 : i32} : () -> <OBJECT>
%m = ttg.local_alloc {allocation.offset = 0 : i32} : () -> <TILE>
amdg.init_barrier %bar, 128 : <OBJECT>
ttg.local_store %x, %m : <TENSOR> -> <TILE>
%two = amdg.arrive_barrier %bar, 1 : <OBJECT> -> i32
amdg.wait_barrier %bar, %zero : <OBJECT>                            //@ RIGHT, NEXT
amdg.wait_barrier %bar, %uno : <OBJECT>                             //@ PHASE, NEXT
%y = ttg.local_load %m : <TILE> -> <TENSOR>
