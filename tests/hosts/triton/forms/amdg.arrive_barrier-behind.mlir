// Behind a specialization, only the waves that run the kernel itself arrive.
// GPU: hip:gfx1250
// RIGHT: clean
// MANY: stuck
%zero = arith.constant 0 : i32
%bar = ttg.local_alloc {allocation.offset = 16384 : i32} : () -> <OBJECT>
amdg.init_barrier %bar, 128 : <OBJECT>                              //@ RIGHT
amdg.init_barrier %bar, 256 : <OBJECT>                              //@ MANY
ttg.warp_specialize(%bar) attributes {warpGroupStartIds = array<i32: 4>}
default {
  ttg.warp_yield
}
partition0(%b: <OBJECT>) num_warps(4) {
  %u = arith.constant 0 : i32
  ttg.warp_return
} : (<OBJECT>) -> ()
%a = amdg.arrive_barrier %bar, 1 : <OBJECT> -> i32
amdg.wait_barrier %bar, %zero : <OBJECT>
