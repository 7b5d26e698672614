// GPU: cuda:90
// GIVEN: %q: !tt.ptr<i8>
// RIGHT: clean
// BEHIND: race WAR, race WAW
ttng.tensormap_create %q, %q, [%n], [%n], [], [%n] {allocation.offset = 0 : i32, allocation.size = 128 : i32, elem_type = 6 : i32, fill_mode = 0 : i32, interleave_layout = 0 : i32, swizzle_mode = 0 : i32} : (!tt.ptr<i8>, !tt.ptr<i8>, i32, i32, i32) -> ()
ttng.tensormap_fenceproxy_acquire %q : !tt.ptr<i8>                  //@ RIGHT
%m = ttg.local_alloc {allocation.offset = 0 : i32} : () -> <TILE>
ttg.local_store %x, %m : <TENSOR> -> <TILE>
ttng.tensormap_fenceproxy_acquire %q : !tt.ptr<i8>                  //@ BEHIND
