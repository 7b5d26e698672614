// Threads of two partitions copy into one tile: what each has started, only it can wait for.
// GPU: cuda:90
// RIGHT: clean
// RACY: race WAW
%m = ttg.local_alloc {allocation.offset = 0 : i32} : () -> <TILE>
%o = ttg.local_alloc {allocation.offset = 8192 : i32} : () -> <TILE>
ttg.warp_specialize(%p, %m, %o) attributes {warpGroupStartIds = array<i32: 4>}
default {
  %k = ttg.async_copy_global_to_local %p, %m : <POINTERS> -> <TILE>
  %g = ttg.async_commit_group tokens %k
  %w = ttg.async_wait %g {num = 0 : i32}
  ttg.warp_yield
}
partition0(%q: <POINTERS>, %a: <TILE>, %b: <TILE>) num_warps(4) {
  %k = ttg.async_copy_global_to_local %q, %b : <POINTERS> -> <TILE>   //@ RIGHT
  %k = ttg.async_copy_global_to_local %q, %a : <POINTERS> -> <TILE>   //@ RACY
  %g = ttg.async_commit_group tokens %k
  %w = ttg.async_wait %g {num = 0 : i32}
  ttg.warp_return
} : (<POINTERS>, <TILE>, <TILE>) -> ()
