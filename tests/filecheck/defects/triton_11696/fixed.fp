# The same with a barrier that fences the reads first.
# RUN: fencepost check %s
kernel @ping_pong waves=8 {
  shared %a : 4096
  shared %b : 4096
  if wave >= 4 {
    workgroup_barrier
  }
  loop %i in 0..16 {
    %x = read %a
    %y = read %b
    barrier
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
# CHECK: @ping_pong: no race, no deadlock
