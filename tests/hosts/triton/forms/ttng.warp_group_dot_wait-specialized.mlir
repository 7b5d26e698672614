// Four warps are one warp group, however many there are in partitions: the wait ends in no barrier.
// GPU: cuda:90
// RIGHT: clean
// RACY: race WAR
%acc = arith.constant dense<0.0> : <ACC>
%a = ttg.local_alloc {allocation.offset = 0 : i32} : () -> <NTILE>
%b = ttg.local_alloc {allocation.offset = 8192 : i32} : () -> <NTILE>
ttg.warp_specialize(%b) attributes {warpGroupStartIds = array<i32: 4>}
default {
  ttg.warp_yield
}
partition0(%q: <NTILE>) num_warps(4) {
  %u = arith.constant 0 : i32
  ttg.warp_return
} : (<NTILE>) -> ()
%e = ttng.warp_group_dot %a, %b, %acc {inputPrecision = 0 : i32, isAsync = true} : <NTILE> * <NTILE> -> <ACC>
%w = ttng.warp_group_dot_wait %e {pendings = 0 : i32} : <ACC>
ttg.barrier local                                                   //@ RIGHT
ttg.local_store %x, %b : <TENSOR> -> <NTILE>
