// Values go from wave to wave through memory of its own, behind a barrier of its own. What others read of those
// bytes before, or will write of them behind it, needs another one.
// GPU: cuda:80
// GIVEN: %at: <NUMBERS>
// RIGHT: clean
// BEFORE: race WAR
// BEHIND: race WAR
%m = ttg.local_alloc {allocation.offset = 0 : i32} : () -> <TILE>
%y = ttg.local_load %m : <TILE> -> <TENSOR>                         //@ RIGHT, BEFORE
ttg.barrier local                                                   //@ RIGHT, BEHIND
%z = tt.gather %x[%at] {axis = 0 : i32, allocation.offset = 0 : i32, allocation.size = 8192 : i32} : (<TENSOR>, <NUMBERS>) -> <TENSOR>
ttg.barrier local                                                   //@ RIGHT, BEFORE
ttg.local_store %x, %m : <TENSOR> -> <TILE>                         //@ RIGHT, BEHIND
