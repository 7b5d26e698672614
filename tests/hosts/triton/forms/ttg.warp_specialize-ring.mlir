// A ring of two tiles between a producer and a consumer: full and empty, each for every slot, phases that alternate.
// GPU: cuda:90
// GIVEN: %d: <DESC>
// RIGHT: clean
// FREED: race WAR
// REFILLED: early arrival, missed phase, race WAR
// PHASES: early arrival, missed phase, race WAR
// LESS: stuck
%zero = arith.constant 0 : i32
%one = arith.constant 1 : i32
%full = ttg.local_alloc {allocation.offset = 24576 : i32} : () -> <OBJECTS>
%empty = ttg.local_alloc {allocation.offset = 24640 : i32} : () -> <OBJECTS>
%m = ttg.local_alloc {allocation.offset = 0 : i32} : () -> <NPAIR>
%f0 = ttg.memdesc_index %full[%zero] : <OBJECTS> -> <OBJECT>
%f1 = ttg.memdesc_index %full[%one] : <OBJECTS> -> <OBJECT>
%e0 = ttg.memdesc_index %empty[%zero] : <OBJECTS> -> <OBJECT>
%e1 = ttg.memdesc_index %empty[%one] : <OBJECTS> -> <OBJECT>
ttng.init_barrier %f0, 1 : <OBJECT>
ttng.init_barrier %f1, 1 : <OBJECT>
ttng.init_barrier %e0, 1 : <OBJECT>
ttng.init_barrier %e1, 1 : <OBJECT>
ttg.warp_specialize(%d, %m, %full, %empty, %n) attributes {warpGroupStartIds = array<i32: 4>}
default {
  %z = arith.constant 0 : i32
  %o = arith.constant 1 : i32
  %two = arith.constant 2 : i32
  scf.for %i = %z to %n step %o : i32 {
    %slot = arith.remsi %i, %two : i32
    %turn = arith.divsi %i, %two : i32
    %phase = arith.remsi %turn, %two : i32
    %f = ttg.memdesc_index %full[%slot] : <OBJECTS> -> <OBJECT>
    %e = ttg.memdesc_index %empty[%slot] : <OBJECTS> -> <OBJECT>
    %t = ttg.memdesc_index %m[%slot] : <NPAIR> -> <NTILE>
    ttng.wait_barrier %f, %phase : <OBJECT>                         //@ RIGHT, FREED, REFILLED, LESS
    ttng.wait_barrier %f, %slot : <OBJECT>                          //@ PHASES
    ttng.arrive_barrier %e, 1 : <OBJECT>                            //@ FREED
    %y = ttg.local_load %t : <NTILE> -> <TENSOR>
    ttng.arrive_barrier %e, 1 : <OBJECT>                            //@ RIGHT, REFILLED, PHASES
  }
  ttg.warp_yield
}
partition0(%g: <DESC>, %a: <NPAIR>, %fs: <OBJECTS>, %es: <OBJECTS>, %k: i32) num_warps(1) {
  %z = arith.constant 0 : i32
  %o = arith.constant 1 : i32
  %two = arith.constant 2 : i32
  %yes = arith.constant true
  scf.for %i = %z to %k step %o : i32 {
    %slot = arith.remsi %i, %two : i32
    %turn = arith.divsi %i, %two : i32
    %phase = arith.remsi %turn, %two : i32
    %other = arith.xori %phase, %o : i32
    %f = ttg.memdesc_index %fs[%slot] : <OBJECTS> -> <OBJECT>
    %e = ttg.memdesc_index %es[%slot] : <OBJECTS> -> <OBJECT>
    %t = ttg.memdesc_index %a[%slot] : <NPAIR> -> <NTILE>
    ttng.wait_barrier %e, %other : <OBJECT>                         //@ RIGHT, FREED, PHASES, LESS
    ttng.barrier_expect %f, 8192, %yes : <OBJECT>
    ttng.async_tma_copy_global_to_local %g[%z, %z] %t, %f, %yes : <DESC>, <OBJECT> -> <NTILE>
  }
  ttg.warp_return
} : (<DESC>, <NPAIR>, <OBJECTS>, <OBJECTS>, i32) -> ()
