# Nobody waits for the group that is delayed: it is left waiting at its last barrier.
# RUN: fencepost check %s
# EXIT: 1
kernel @left waves=2 {
  barrier
  if wave != 0 {
    workgroup_barrier
  }
  br ^head
^head:
  cond_br %more, ^body, ^end
^body:
  workgroup_barrier
  workgroup_barrier
  br ^head
^end:
  return
}
# CHECK: error[FP002]
