// RIGHT: clean
// RACY: race WAR
%m = ttg.local_alloc {allocation.offset = 0 : i32} : () -> <TILE>
%y = ttg.local_load %m : <TILE> -> <TENSOR>
ttg.barrier local                                                   //@ RIGHT
ttg.local_store %x, %m : <TENSOR> -> <TILE>
