// A function that is called is judged as well, and what it always crosses counts for whoever calls it.
// RIGHT: clean
// RACY: race RAW
// INSIDE: race RAW
%m = ttg.local_alloc {allocation.offset = 0 : i32} : () -> <TILE>
ttg.local_store %x, %m : <TENSOR> -> <TILE>
tt.call @called(%x, %c) {allocation.offset = 8192 : i32, allocation.size = 8192 : i32} : (<TENSOR>, i1) -> ()
%y = ttg.local_load %m : <TILE> -> <TENSOR>
// FUNCTIONS
tt.func private @called(%x: <TENSOR>, %c: i1) attributes {noinline = true} {
  %s = ttg.local_alloc %x {allocation.offset = 0 : i32} : (<TENSOR>) -> <TILE>
  ttg.barrier local                                                 //@ RIGHT
  scf.if %c {                                                      //@ RACY
    ttg.barrier local                                               //@ RACY
  }                                                                //@ RACY
  %z = ttg.local_load %s : <TILE> -> <TENSOR>                       //@ RIGHT, INSIDE
  ttg.barrier local                                                 //@ INSIDE
  tt.return
}
