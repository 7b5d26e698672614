// Two partitions arrive, one after the other as it happens: both count.
// GPU: cuda:90
// RIGHT: clean
// MANY: early arrival, missed phase
%bar = ttg.local_alloc {allocation.offset = 16384 : i32} : () -> <OBJECT>
ttng.init_barrier %bar, 2 : <OBJECT>                                //@ RIGHT
ttng.init_barrier %bar, 1 : <OBJECT>                                //@ MANY
ttg.warp_specialize(%bar) attributes {warpGroupStartIds = array<i32: 4, 5>}
default {
  %z = arith.constant 0 : i32
  ttng.wait_barrier %bar, %z : <OBJECT>
  ttg.warp_yield
}
partition0(%b: <OBJECT>) num_warps(1) {
  ttng.arrive_barrier %b, 1 : <OBJECT>
  ttg.warp_return
}
partition1(%b: <OBJECT>) num_warps(1) {
  ttng.arrive_barrier %b, 1 : <OBJECT>
  ttg.warp_return
} : (<OBJECT>) -> ()
