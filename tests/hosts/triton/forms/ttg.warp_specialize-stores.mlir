// One partition stores a tile by the engine, another one writes the next into it.
// GPU: cuda:90
// GIVEN: %d: <DESC>
// RIGHT: clean
// UNWAITED: race RAW
%m = ttg.local_alloc {allocation.offset = 0 : i32} : () -> <NTILE>
%bar = ttg.local_alloc {allocation.offset = 16384 : i32} : () -> <OBJECT>
ttng.init_barrier %bar, 1 : <OBJECT>
ttg.warp_specialize(%d, %m, %bar) attributes {warpGroupStartIds = array<i32: 4>}
default {
  %z = arith.constant 0 : i32
  ttng.wait_barrier %bar, %z : <OBJECT>
  ttg.local_store %x, %m : <TENSOR> -> <NTILE>
  ttg.warp_yield
}
partition0(%e: <DESC>, %a: <NTILE>, %b: <OBJECT>) num_warps(1) {
  %z = arith.constant 0 : i32
  ttng.async_tma_copy_local_to_global %e[%z, %z] %a : <DESC>, <NTILE>
  ttng.async_tma_store_wait {pendings = 0 : i32}                    //@ RIGHT
  ttng.arrive_barrier %b, 1 : <OBJECT>
  ttg.warp_return
} : (<DESC>, <NTILE>, <OBJECT>) -> ()
