# Ping-pong, two clusters: the meeting behind the reads has no fence, so they may be under way when the other half writes.
# RUN: fencepost check %s
# EXIT: 1
# RUN: fencepost insert %s 2>&1 | filecheck %s --check-prefix=INSERT
# EXIT: 2
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
# CHECK: = why: no rendezvous of the two waves lies between them, with the first one complete before it
# CHECK: error[FP001]: wave 0 can write %b before wave 5 has read it
# CHECK: @ping_pong: 2 races
# INSERT: error[FP201]: workgroup_barrier inside a divergent conditional
