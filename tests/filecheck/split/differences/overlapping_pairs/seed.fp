# The signal for the next iteration comes before the wait of a pair within the iteration.
# RUN: fencepost check %s
# EXIT: 1
kernel @overlapping_pairs waves=4 {
  shared %c : 64
  shared %d : 64
  shared %e : 64
  loop %i in 0..8 {
    write %c
    signal
    wait
    read %c
    write %e
    read %d
    signal
    wait
    read %e
    signal
    write %d
    signal
    wait
    write %e
    wait
  }
}
# CHECK: the workgroup's barrier is signalled twice before it is waited for
