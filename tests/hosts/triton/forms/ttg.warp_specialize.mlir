// Partitions run at the same time: what one writes, another may not read, unless an object says when. What stands
// before is done for all of them, and what they do is done when all have ended.
// GPU: cuda:90
// RIGHT: clean
// RACY: race WAR
// BARRIER: race WAR
%m = ttg.local_alloc {allocation.offset = 0 : i32} : () -> <TILE>
%o = ttg.local_alloc {allocation.offset = 8192 : i32} : () -> <TILE>
%bar = ttg.local_alloc {allocation.offset = 16384 : i32} : () -> <OBJECT>
ttng.init_barrier %bar, 1 : <OBJECT>
ttg.local_store %x, %o : <TENSOR> -> <TILE>
ttg.warp_specialize(%x, %m, %o, %bar) attributes {warpGroupStartIds = array<i32: 4>}
default {
  %z = arith.constant 0 : i32
  ttng.wait_barrier %bar, %z : <OBJECT>                             //@ RIGHT
  ttg.barrier local                                                 //@ BARRIER
  %y = ttg.local_load %m : <TILE> -> <TENSOR>
  ttg.warp_yield
}
partition0(%v: <TENSOR>, %a: <TILE>, %b: <TILE>, %e: <OBJECT>) num_warps(4) {
  %u = ttg.local_load %b : <TILE> -> <TENSOR>
  ttg.local_store %v, %a : <TENSOR> -> <TILE>
  ttg.barrier local                                                 //@ BARRIER
  ttng.arrive_barrier %e, 1 : <OBJECT>                              //@ RIGHT
  ttg.warp_return
} : (<TENSOR>, <TILE>, <TILE>, <OBJECT>) -> ()
ttg.local_store %x, %m : <TENSOR> -> <TILE>
