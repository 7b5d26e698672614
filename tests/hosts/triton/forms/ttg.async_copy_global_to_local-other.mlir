// On AMD, threads that the mask leaves out store another value themselves: no wait for copies covers that, and a bare
// barrier has no fence.
// GPU: hip:gfx950
// GIVEN: %some: tensor<64x64xi1, #b>
// RIGHT: clean
// ZERO: clean
// RACY: race RAW
%m = ttg.local_alloc {allocation.offset = 0 : i32} : () -> <TILE>
%a = ttg.async_copy_global_to_local %p, %m mask %some other %x : <POINTERS> -> <TILE>  //@ RIGHT, RACY
%a = ttg.async_copy_global_to_local %p, %m mask %some : <POINTERS> -> <TILE>           //@ ZERO
%g = ttg.async_commit_group tokens %a
%w = ttg.async_wait %g {num = 0 : i32}
ttg.barrier local                                                   //@ RIGHT
rocdl.s.barrier                                                     //@ RACY, ZERO
%y = ttg.local_load %m : <TILE> -> <TENSOR>
