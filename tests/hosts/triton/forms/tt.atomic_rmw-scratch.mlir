// A result that all waves get goes through memory: written, met, read. The next one writes it again.
// GIVEN: %q: !tt.ptr<i32>
// RIGHT: clean
// RACY: race WAR
%o = arith.constant 1 : i32
%t = arith.constant true
%one = tt.atomic_rmw add, relaxed, gpu, %q, %o, %t {allocation.offset = 0 : i32, allocation.size = 4 : i32} : (!tt.ptr<i32>, i32, i1) -> i32
ttg.barrier local                                                   //@ RIGHT
%two = tt.atomic_rmw add, relaxed, gpu, %q, %o, %t {allocation.offset = 0 : i32, allocation.size = 4 : i32} : (!tt.ptr<i32>, i32, i1) -> i32
