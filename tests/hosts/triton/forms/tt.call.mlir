// What is called works in its own frame; what the caller has pending there has to be done.
// RIGHT: clean
// RACY: race WAR
%m = ttg.local_alloc {allocation.offset = 0 : i32} : () -> <TILE>
%y = ttg.local_load %m : <TILE> -> <TENSOR>
tt.call @called(%x) {allocation.offset = 8192 : i32, allocation.size = 8192 : i32} : (<TENSOR>) -> ()  //@ RIGHT
tt.call @called(%x) {allocation.offset = 0 : i32, allocation.size = 8192 : i32} : (<TENSOR>) -> ()     //@ RACY
// FUNCTIONS
tt.func private @called(%x: <TENSOR>) attributes {noinline = true} {
  %s = ttg.local_alloc %x {allocation.offset = 0 : i32} : (<TENSOR>) -> !ttg.memdesc<64x64xf16, #s, #smem>
  tt.return
}
