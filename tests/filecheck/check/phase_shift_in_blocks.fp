# A loop of labelled blocks asks at its beginning whether to go on: the group that is delayed leaves it, too.
# RUN: fencepost check %s
kernel @shifted waves=2 {
  shared %a : 64
  barrier
  if wave != 0 {
    workgroup_barrier
  }
  br ^head(0)
^head(%n):
  cond_br %more, ^body, ^end
^body:
  read %a[%n..%n + 1]
  workgroup_barrier
  workgroup_barrier
  br ^head((%n + 1) % 2)
^end:
  if wave == 0 {
    workgroup_barrier
  }
  barrier
  return
}
# CHECK: @shifted: no race, no deadlock (simulated
