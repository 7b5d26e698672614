// A barrier of each wave alone is not judged.
// GPU: hip:gfx942
// RIGHT: clean
// BEHIND: race RAW
// REFUSED: not judged
%m = ttg.local_alloc {allocation.offset = 0 : i32} : () -> <TILE>
ttg.local_store %x, %m : <TENSOR> -> <TILE>
gpu.barrier                                                         //@ RIGHT
gpu.barrier scope <subgroup>                                        //@ REFUSED
%y = ttg.local_load %m : <TILE> -> <TENSOR>
gpu.barrier                                                         //@ BEHIND
