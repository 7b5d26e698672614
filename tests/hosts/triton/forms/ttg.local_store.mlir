// RIGHT: clean
// RACY: race WAW
%m = ttg.local_alloc {allocation.offset = 0 : i32} : () -> <TILE>
ttg.local_store %x, %m : <TENSOR> -> <TILE>
ttg.barrier local                                                   //@ RIGHT
ttg.local_store %x, %m : <TENSOR> -> <TILE>
