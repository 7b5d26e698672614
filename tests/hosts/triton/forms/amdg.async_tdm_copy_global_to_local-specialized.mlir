// Loads by a partition of one wave: what it waits for by its counter, the others see once it has arrived.
// GPU: hip:gfx1250
// GIVEN: %d: <TDESC>
// RIGHT: clean
// UNWAITED: race WAR
// FEW: stuck
%m = ttg.local_alloc {allocation.offset = 0 : i32} : () -> <TILE>
%bar = ttg.local_alloc {allocation.offset = 16384 : i32} : () -> <OBJECT>
amdg.init_barrier %bar, 32 : <OBJECT>                               //@ RIGHT, UNWAITED
amdg.init_barrier %bar, 128 : <OBJECT>                              //@ FEW
ttg.warp_specialize(%d, %m, %bar) attributes {warpGroupStartIds = array<i32: 4>}
default {
  %z = arith.constant 0 : i32
  amdg.wait_barrier %bar, %z : <OBJECT>
  %y = ttg.local_load %m : <TILE> -> <TENSOR>
  ttg.warp_yield
}
partition0(%e: <TDESC>, %a: <TILE>, %b: <OBJECT>) num_warps(1) {
  %k = amdg.async_tdm_copy_global_to_local %e into %a : <TDESC> -> <TILE>
  %w = amdg.async_tdm_wait {num = 0 : i32}                          //@ RIGHT, FEW
  %r = amdg.arrive_barrier %b, 1 : <OBJECT> -> i32
  ttg.warp_return
} : (<TDESC>, <TILE>, <OBJECT>) -> ()
