// A partition hands a tile over by arriving; as often as was said when the object was made.
// GPU: cuda:90
// RIGHT: clean
// EARLY: race WAR
// FEW: stuck
// NONE: stuck
// MANY: early arrival
%bar = ttg.local_alloc {allocation.offset = 16384 : i32} : () -> <OBJECT>
%m = ttg.local_alloc {allocation.offset = 0 : i32} : () -> <TILE>
ttng.init_barrier %bar, 1 : <OBJECT>                                //@ RIGHT, EARLY, NONE, MANY
ttng.init_barrier %bar, 2 : <OBJECT>                                //@ FEW
ttg.barrier local
ttg.warp_specialize(%x, %m, %bar) attributes {warpGroupStartIds = array<i32: 4>}
default {
  %z = arith.constant 0 : i32
  ttng.wait_barrier %bar, %z : <OBJECT>
  %y = ttg.local_load %m : <TILE> -> <TENSOR>
  ttg.warp_yield
}
partition0(%v: <TENSOR>, %a: <TILE>, %b: <OBJECT>) num_warps(4) {
  ttng.arrive_barrier %b, 1 : <OBJECT>                              //@ EARLY
  ttg.local_store %v, %a : <TENSOR> -> <TILE>
  ttng.arrive_barrier %b, 1 : <OBJECT>                              //@ RIGHT, FEW
  ttng.arrive_barrier %b, 2 : <OBJECT>                              //@ MANY
  ttg.warp_return
} : (<TENSOR>, <TILE>, <OBJECT>) -> ()
