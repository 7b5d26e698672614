// Threads that the mask leaves out store another value themselves: no wait for copies covers that, and a bare barrier
// has no fence.
// GPU: hip:gfx950
// GIVEN: %q: !tt.ptr<f16>, %at: <NUMBERS>, %some: tensor<64x64xi1, #b>
// RIGHT: clean
// ZERO: clean
// RACY: race RAW
%m = ttg.local_alloc {allocation.offset = 0 : i32} : () -> <TILE>
%a = amdg.buffer_load_to_local %q[%at] mask = %some other = %x into %m : !tt.ptr<f16>[<NUMBERS>] <TENSOR> -> <TILE>  //@ RIGHT, RACY
%a = amdg.buffer_load_to_local %q[%at] mask = %some into %m : !tt.ptr<f16>[<NUMBERS>] -> <TILE>                      //@ ZERO
%g = ttg.async_commit_group tokens %a
%w = ttg.async_wait %g {num = 0 : i32}
ttg.barrier local                                                   //@ RIGHT
rocdl.s.barrier                                                     //@ RACY, ZERO
%y = ttg.local_load %m : <TILE> -> <TENSOR>
