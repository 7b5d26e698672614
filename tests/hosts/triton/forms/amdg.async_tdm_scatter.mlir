// GPU: hip:gfx1250
// GIVEN: %d: !tt.tensordesc<64x64xf16, #s>, %rows: tensor<64xi32, #amdrows>
// RIGHT: clean
// RACY: race WAR
%m = ttg.local_alloc {allocation.offset = 0 : i32} : () -> <TILE>
%a = amdg.async_tdm_scatter %d[%rows] from %m : tensor<64xi32, #amdrows>, <TILE> -> <TDESC>
%w = amdg.async_tdm_wait {num = 0 : i32}                            //@ RIGHT
ttg.barrier local
ttg.local_store %x, %m : <TENSOR> -> <TILE>
