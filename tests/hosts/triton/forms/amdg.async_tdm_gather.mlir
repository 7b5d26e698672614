// GPU: hip:gfx1250
// GIVEN: %d: !tt.tensordesc<64x64xf16, #s>, %rows: tensor<64xi32, #amdrows>
// RIGHT: clean
// RACY: race RAW
%m = ttg.local_alloc {allocation.offset = 0 : i32} : () -> <TILE>
%a = amdg.async_tdm_gather %d[%rows] to %m : tensor<64xi32, #amdrows>, <TILE> -> <TDESC>
%w = amdg.async_tdm_wait {num = 0 : i32}                            //@ RIGHT
ttg.barrier local
%y = ttg.local_load %m : <TILE> -> <TENSOR>
