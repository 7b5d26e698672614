// Half of the waves runs a phase behind: between a load and the next store, two barriers; and in the end, all meet.
// GPU: hip:gfx950
// WARPS: 8
// RIGHT: clean
// RACY: race RAW, race WAR
// UNEVEN: stuck
%zero = arith.constant 0 : i32
%one = arith.constant 1 : i32
%half = arith.constant 128 : i32
%m = ttg.local_alloc {allocation.offset = 0 : i32} : () -> <TILE>
%thread = rocdl.workitem.id.x : i32
%which = arith.divsi %thread, %half : i32
%early = arith.cmpi eq, %which, %zero : i32
%late = arith.cmpi ne, %which, %zero : i32
amdg.cond_barrier %late
scf.for %i = %zero to %n step %one : i32 {
  %v = ttg.local_load %m : <TILE> -> <TENSOR>
  ttg.barrier local
  ttg.barrier local                                                 //@ RIGHT, UNEVEN
  ttg.local_store %x, %m : <TENSOR> -> <TILE>
  ttg.barrier local
  ttg.barrier local                                                 //@ RIGHT, UNEVEN
}
amdg.cond_barrier %early                                            //@ RIGHT, RACY
