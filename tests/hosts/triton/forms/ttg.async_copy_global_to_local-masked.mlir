// A mask leaves elements out; those that are copied are copied like any.
// GIVEN: %some: tensor<64x64xi1, #b>
// RIGHT: clean
// RACY: race RAW
%m = ttg.local_alloc {allocation.offset = 0 : i32} : () -> <TILE>
%a = ttg.async_copy_global_to_local %p, %m mask %some : <POINTERS> -> <TILE>
%g = ttg.async_commit_group tokens %a
%w = ttg.async_wait %g {num = 0 : i32}                              //@ RIGHT
ttg.barrier local
%y = ttg.local_load %m : <TILE> -> <TENSOR>
