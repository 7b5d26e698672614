// A poll ends in a barrier, whatever its order is.
// GIVEN: %q: !tt.ptr<i32>
// RIGHT: clean
// BEHIND: race RAW
%m = ttg.local_alloc {allocation.offset = 0 : i32} : () -> <TILE>
%o = arith.constant 1 : i32
%t = arith.constant true
ttg.local_store %x, %m : <TENSOR> -> <TILE>
tti.experimental_gsan_atomic_poll acquire, gpu, %q, %t : !tt.ptr<i32>  //@ RIGHT
%y = ttg.local_load %m : <TILE> -> <TENSOR>
tti.experimental_gsan_atomic_poll acquire, gpu, %q, %t : !tt.ptr<i32>  //@ BEHIND
