// Copies of two partitions into one tile have no order, though each engine keeps its own.
// GPU: hip:gfx1250
// GIVEN: %d: <TDESC>
// RIGHT: clean
// RACY: race WAW
%m = ttg.local_alloc {allocation.offset = 0 : i32} : () -> <TILE>
ttg.warp_specialize(%d, %m) attributes {warpGroupStartIds = array<i32: 4, 5>}
default {
  ttg.warp_yield
}
partition0(%e: <TDESC>, %a: <TILE>) num_warps(1) {
  %k = amdg.async_tdm_copy_global_to_local %e into %a : <TDESC> -> <TILE>
  %l = amdg.async_tdm_copy_global_to_local %e into %a : <TDESC> -> <TILE>   //@ RIGHT
  %w = amdg.async_tdm_wait {num = 0 : i32}
  ttg.warp_return
}
partition1(%e: <TDESC>, %a: <TILE>) num_warps(1) {
  %k = amdg.async_tdm_copy_global_to_local %e into %a : <TDESC> -> <TILE>   //@ RACY
  %w = amdg.async_tdm_wait {num = 0 : i32}                                  //@ RACY
  ttg.warp_return
} : (<TDESC>, <TILE>) -> ()
