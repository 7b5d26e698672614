// An allocation that is given a tensor writes it.
// RIGHT: clean
// RACY: race RAW
%m = ttg.local_alloc %x {allocation.offset = 0 : i32} : (<TENSOR>) -> <TILE>
ttg.barrier local                                                   //@ RIGHT
%y = ttg.local_load %m : <TILE> -> <TENSOR>
