# The signal in front of the loop, the wait inside: the second iteration waits for ever.
# RUN: fencepost check %s
# EXIT: 1
kernel @wait_in_a_loop waves=4 {
  shared %a : 1024
  write %a
  signal
  compute
  loop %i in 0..8 {
    wait
    read %a
  }
}
# CHECK: a wave waits for the workgroup's barrier, which it has not signalled
