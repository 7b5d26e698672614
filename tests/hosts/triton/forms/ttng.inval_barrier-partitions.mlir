// One partition ends an object that another one may still wait for.
// GPU: cuda:90
// RIGHT: clean
// EARLY: race WAW
%bar = ttg.local_alloc {allocation.offset = 16384 : i32} : () -> <OBJECT>
ttng.init_barrier %bar, 1 : <OBJECT>
ttg.warp_specialize(%bar) attributes {warpGroupStartIds = array<i32: 4, 5>}
default {
  %z = arith.constant 0 : i32
  ttng.wait_barrier %bar, %z : <OBJECT>
  ttg.warp_yield
}
partition0(%b: <OBJECT>) num_warps(1) {
  %z = arith.constant 0 : i32
  ttng.wait_barrier %b, %z : <OBJECT>
  ttng.inval_barrier %b : <OBJECT>                                  //@ EARLY
  ttg.warp_return
}
partition1(%b: <OBJECT>) num_warps(1) {
  ttng.arrive_barrier %b, 1 : <OBJECT>
  ttg.warp_return
} : (<OBJECT>) -> ()
ttng.inval_barrier %bar : <OBJECT>                                  //@ RIGHT
