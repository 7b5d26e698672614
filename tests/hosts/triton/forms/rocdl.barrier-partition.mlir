// Who meets at a barrier of the hardware inside of a partition is not known.
// GPU: hip:gfx1250
// RIGHT: clean
// REFUSED: not judged
rocdl.barrier
%m = ttg.local_alloc {allocation.offset = 0 : i32} : () -> <TILE>
ttg.warp_specialize(%x, %m) attributes {warpGroupStartIds = array<i32: 4>}
default {
  ttg.warp_yield
}
partition0(%v: <TENSOR>, %a: <TILE>) num_warps(4) {
  ttg.local_store %v, %a : <TENSOR> -> <TILE>
  ttg.barrier local                                                 //@ RIGHT
  rocdl.barrier                                                     //@ REFUSED
  %y = ttg.local_load %a : <TILE> -> <TENSOR>
  ttg.warp_return
} : (<TENSOR>, <TILE>) -> ()
