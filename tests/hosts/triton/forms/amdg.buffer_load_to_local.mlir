// GPU: hip:gfx950
// GIVEN: %q: !tt.ptr<f16>, %at: <NUMBERS>
// RIGHT: clean
// RACY: race RAW
%m = ttg.local_alloc {allocation.offset = 0 : i32} : () -> <TILE>
%a = amdg.buffer_load_to_local %q[%at] into %m : !tt.ptr<f16>[<NUMBERS>] -> <TILE>
%g = ttg.async_commit_group tokens %a
%w = ttg.async_wait %g {num = 0 : i32}                              //@ RIGHT
ttg.barrier local
%y = ttg.local_load %m : <TILE> -> <TENSOR>
