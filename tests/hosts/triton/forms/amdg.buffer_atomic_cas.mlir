// One that releases begins with a barrier, and one that acquires ends in one; a relaxed one has none.
// GPU: hip:gfx942
// GIVEN: %q: !tt.ptr<i32>, %at: <LINE>, %v: <LINE>
// RIGHT: clean
// RACY: race RAW
%m = ttg.local_alloc {allocation.offset = 0 : i32} : () -> <TILE>
%o = arith.constant 1 : i32
%t = arith.constant true
ttg.local_store %x, %m : <TENSOR> -> <TILE>
%old = amdg.buffer_atomic_cas acq_rel, gpu, %v, %v, %q[%at] : !tt.ptr<i32> -> <LINE>  //@ RIGHT
%old = amdg.buffer_atomic_cas relaxed, gpu, %v, %v, %q[%at] : !tt.ptr<i32> -> <LINE>  //@ RACY
%y = ttg.local_load %m : <TILE> -> <TENSOR>
