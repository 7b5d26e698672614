// A barrier for shared memory, or for everything; one for global memory alone is none here.
// RIGHT: clean
// ALL: clean
// GLOBAL: race RAW
%m = ttg.local_alloc {allocation.offset = 0 : i32} : () -> <TILE>
ttg.local_store %x, %m : <TENSOR> -> <TILE>
ttg.barrier local                                                   //@ RIGHT
ttg.barrier all                                                     //@ ALL
ttg.barrier global_read|global_write                                //@ GLOBAL
%y = ttg.local_load %m : <TILE> -> <TENSOR>
