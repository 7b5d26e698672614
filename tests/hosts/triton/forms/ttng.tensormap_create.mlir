// The first wave makes it in memory of its own; the others must not use those bytes before they have met it.
// GPU: cuda:90
// GIVEN: %q: !tt.ptr<i8>
// RIGHT: clean
// RACY: race WAR, race WAW
ttng.tensormap_create %q, %q, [%n], [%n], [], [%n] {allocation.offset = 0 : i32, allocation.size = 128 : i32, elem_type = 6 : i32, fill_mode = 0 : i32, interleave_layout = 0 : i32, swizzle_mode = 0 : i32} : (!tt.ptr<i8>, !tt.ptr<i8>, i32, i32, i32) -> ()
ttg.barrier local                                                   //@ RIGHT
%m = ttg.local_alloc {allocation.offset = 0 : i32} : () -> <TILE>
ttg.local_store %x, %m : <TENSOR> -> <TILE>
