// A descriptor may say that nothing is moved. Whether such a copy arrives is not known here.
// GPU: hip:gfx1250
// GIVEN: %d: <TDESC>
// RIGHT: clean
// REFUSED: not judged
%zero = arith.constant 0 : i32
%uno = arith.constant 1 : i32
%bar = ttg.local_alloc {allocation.offset = 16384 : i32} : () -> <OBJECT>
%m = ttg.local_alloc {allocation.offset = 0 : i32} : () -> <TILE>
amdg.init_barrier %bar, 4 : <OBJECT>
%e = amdg.update_tensor_descriptor %d pred = %uno : <TDESC>          //@ RIGHT
%e = amdg.update_tensor_descriptor %d pred = %n : <TDESC>            //@ REFUSED
%a = amdg.async_tdm_copy_global_to_local %e into %m, barrier = %bar : <TDESC>, <OBJECT> -> <TILE>
amdg.wait_barrier %bar, %zero : <OBJECT>
%y = ttg.local_load %m : <TILE> -> <TENSOR>
