# Right in step, one copy too many once half of the waves run a phase behind: the early half reads before the late half has waited.
# RUN: fencepost check %s
# EXIT: 1
# RUN: fencepost insert %s | filecheck %s --check-prefix=INSERT
# RUN: fencepost insert %s | fencepost check - | filecheck %s --check-prefix=CLEAN
kernel @staggered waves=8 {
  shared %s : 4 x 1024
  gather_to_lds %s[0]
  gather_to_lds %s[1]
  wait_count load=0
  barrier
  if wave >= 4 {
    workgroup_barrier
  }
  loop %i in 0..16 {
    %x = read %s[%i % 4]
    gather_to_lds %s[(%i + 2) % 4]
    barrier
    mma %x
    wait_count load=1
    barrier
  }
  if wave < 4 {
    workgroup_barrier
  }
}
# CHECK: error[FP001]: wave 0 can read %s[%i % 4] while wave 4's copy into it is under way
# CHECK-NEXT: --> racy.fp:17:5 and racy.fp:16:5
# CHECK: @staggered: 1 race
# INSERT: loop %i in 0..16
# INSERT-NEXT: barrier  # copy → read %s, 2 iterations later, late → early
# INSERT-NEXT: %x = read %s[%i % 4]
# CLEAN: no race, no deadlock
