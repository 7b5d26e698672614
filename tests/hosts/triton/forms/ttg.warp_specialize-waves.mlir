// A barrier in a partition is one of its waves; without it they race with each other.
// GPU: cuda:90
// RIGHT: clean
// RACY: race RAW
%m = ttg.local_alloc {allocation.offset = 0 : i32} : () -> <TILE>
ttg.warp_specialize(%x, %m) attributes {warpGroupStartIds = array<i32: 4>}
default {
  ttg.warp_yield
}
partition0(%v: <TENSOR>, %a: <TILE>) num_warps(4) {
  ttg.local_store %v, %a : <TENSOR> -> <TILE>
  ttg.barrier local                                                 //@ RIGHT
  %y = ttg.local_load %a : <TILE> -> <TENSOR>
  ttg.warp_return
} : (<TENSOR>, <TILE>) -> ()
