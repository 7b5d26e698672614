// GPU: hip:gfx942
// RIGHT: clean
// BEHIND: race RAW
%m = ttg.local_alloc {allocation.offset = 0 : i32} : () -> <TILE>
ttg.local_store %x, %m : <TENSOR> -> <TILE>
rocdl.barrier                                                       //@ RIGHT
%y = ttg.local_load %m : <TILE> -> <TENSOR>
rocdl.barrier                                                       //@ BEHIND
