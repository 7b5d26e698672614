# Ping-pong, two clusters: the meeting behind the reads has no fence, so they may be under way when the other half writes.
# RUN: fencepost check --all %s
# EXIT: 1
# RUN: fencepost insert %s | filecheck %s --check-prefix=INSERT
# RUN: fencepost insert %s | fencepost check - | filecheck %s --check-prefix=CLEAN
kernel @ping_pong waves=8 {
  shared %a : 4096
  shared %b : 4096
  if wave >= 4 {
    workgroup_barrier
  }
  loop %i in 0..16 {
    %x = read %a
    %y = read %b
    workgroup_barrier
    mma %x, %y
    workgroup_barrier
    write %a
    write %b
    barrier
    mma %x, %y
    workgroup_barrier
  }
  if wave < 4 {
    workgroup_barrier
  }
}
# CHECK: error[FP001]: wave 0 can write %a before wave 5 has read it
# CHECK-NEXT: --> racy.fp:13:5 and racy.fp:18:5
# CHECK: = why: wave 5 runs one rendezvous behind wave 0: it was delayed on line 10, as all waves with `wave >= 4` are. The last barrier that wave 0 passes before line 18 is the one on line 17; there it meets wave 5 on line 15, where wave 5's read on line 13 may still be unfinished: a workgroup barrier has no fence
# CHECK: = fix: a fence at the workgroup barrier on line 15: `barrier` instead of `workgroup_barrier`
# CHECK: error[FP001]: wave 0 can write %b before wave 5 has read it
# CHECK: @ping_pong: 2 races
# INSERT: %y = read %b
# INSERT-NEXT: barrier  # read → write %a, late → early; read → write %b, late → early
# INSERT-NEXT: mma %x, %y
# INSERT-NEXT: workgroup_barrier
# INSERT-NEXT: write %a
# INSERT-NEXT: write %b
# INSERT-NEXT: barrier
# INSERT-NEXT: mma %x, %y
# INSERT-NEXT: workgroup_barrier
# CLEAN: no race, no deadlock
