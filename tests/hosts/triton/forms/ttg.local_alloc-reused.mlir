// Two allocations may share bytes, once whoever used the first is done with it.
// RIGHT: clean
// RACY: race WAR
%m = ttg.local_alloc {allocation.offset = 0 : i32} : () -> <TILE>
%y = ttg.local_load %m : <TILE> -> <TENSOR>
ttg.local_dealloc %m : <TILE>
ttg.barrier local                                                   //@ RIGHT
%o = ttg.local_alloc %x {allocation.offset = 4096 : i32} : (<TENSOR>) -> <TILE>
