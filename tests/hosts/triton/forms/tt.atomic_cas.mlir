// One that releases begins with a barrier, and one that acquires ends in one; a relaxed one has none.
// GPU: cuda:80
// GIVEN: %q: !tt.ptr<i32>
// RIGHT: clean
// RACY: race RAW
%m = ttg.local_alloc {allocation.offset = 0 : i32} : () -> <TILE>
%o = arith.constant 1 : i32
%t = arith.constant true
ttg.local_store %x, %m : <TENSOR> -> <TILE>
%old = tt.atomic_cas release, gpu, %q, %o, %o : (!tt.ptr<i32>, i32, i32) -> i32  //@ RIGHT
%old = tt.atomic_cas relaxed, gpu, %q, %o, %o : (!tt.ptr<i32>, i32, i32) -> i32  //@ RACY
%y = ttg.local_load %m : <TILE> -> <TENSOR>
