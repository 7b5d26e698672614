// Reads rows that the indices name: any.
// GIVEN: %rows: <NUMBERS>
// RIGHT: clean
// RACY: race RAW
%m = ttg.local_alloc {allocation.offset = 0 : i32} : () -> <TILE>
ttg.local_store %x, %m : <TENSOR> -> <TILE>
ttg.barrier local                                                   //@ RIGHT
%y = ttg.local_gather %m[%rows] {axis = 0 : i32} : <TILE>, <NUMBERS> -> <TENSOR>
