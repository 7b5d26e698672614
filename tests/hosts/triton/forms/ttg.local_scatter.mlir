// Writes rows that the indices name: any.
// GIVEN: %rows: <NUMBERS>
// RIGHT: clean
// RACY: race WAR
%m = ttg.local_alloc {allocation.offset = 0 : i32} : () -> <TILE>
%y = ttg.local_load %m : <TILE> -> <TENSOR>
ttg.barrier local                                                   //@ RIGHT
ttg.local_scatter %m[%rows], %x {axis = 0 : i32} : <TILE>, <NUMBERS>, <TENSOR>
