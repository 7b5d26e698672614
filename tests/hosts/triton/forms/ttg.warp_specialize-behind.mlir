// What a partition has started, only its own waves can wait for; whoever goes on behind it cannot.
// GPU: cuda:90
// RIGHT: clean
// OTHERS: race RAW
%m = ttg.local_alloc {allocation.offset = 0 : i32} : () -> <TILE>
ttg.warp_specialize(%p, %m) attributes {warpGroupStartIds = array<i32: 4>}
default {
  ttg.warp_yield
}
partition0(%q: <POINTERS>, %a: <TILE>) num_warps(4) {
  %k = ttg.async_copy_global_to_local %q, %a : <POINTERS> -> <TILE>
  %g = ttg.async_commit_group tokens %k
  %w = ttg.async_wait %g {num = 0 : i32}                            //@ RIGHT
  ttg.warp_return
} : (<POINTERS>, <TILE>) -> ()
%v = ttg.async_wait {num = 0 : i32}                                 //@ OTHERS
ttg.barrier local
%y = ttg.local_load %m : <TILE> -> <TENSOR>
