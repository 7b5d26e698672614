// Values that stay in their wave take no barrier along: others cannot rely on one.
// RIGHT: clean
// RACY: race RAW
%m = ttg.local_alloc {allocation.offset = 0 : i32} : () -> <TILE>
ttg.local_store %x, %m : <TENSOR> -> <TILE>
%z = ttg.convert_layout %x {allocation.offset = 8192 : i32, allocation.size = 8192 : i32} : <TENSOR> -> <OTHER>                    //@ RIGHT
%z = ttg.convert_layout %x {allocation.offset = 8192 : i32, allocation.size = 8192 : i32} : <TENSOR> -> tensor<64x64xf16, #w>     //@ RACY
%y = ttg.local_load %m : <TILE> -> <TENSOR>
