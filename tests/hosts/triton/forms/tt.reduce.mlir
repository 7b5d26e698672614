// Values go from wave to wave through memory of its own, behind a barrier of its own. What others read of those
// bytes before, or will write of them behind it, needs another one.
// GPU: cuda:80
// GIVEN: %more: i32
// RIGHT: clean
// BEFORE: race WAR
// BEHIND: race WAR
%m = ttg.local_alloc {allocation.offset = 0 : i32} : () -> <TILE>
%y = ttg.local_load %m : <TILE> -> <TENSOR>                         //@ RIGHT, BEFORE
ttg.barrier local                                                   //@ RIGHT, BEHIND
%z = "tt.reduce"(%x) ({
^bb0(%l: f16, %r: f16):
  %sum = arith.addf %l, %r : f16
  tt.reduce.return %sum : f16
}) {axis = 0 : i32, allocation.offset = 0 : i32, allocation.size = 8192 : i32} : (<TENSOR>) -> tensor<64xf16, #r>
ttg.barrier local                                                   //@ RIGHT, BEFORE
ttg.local_store %x, %m : <TENSOR> -> <TILE>                         //@ RIGHT, BEHIND
