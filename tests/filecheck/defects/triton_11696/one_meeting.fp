# One meeting between reads and writes is too few for halves that run apart, fence or not.
# RUN: fencepost check %s
# EXIT: 1
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
# CHECK-NEXT: --> one_meeting.fp:11:5 and one_meeting.fp:15:5
# CHECK: @ping_pong: 2 races
