# Two copies by one wave: the wait completes the first of them, and the barrier has to stay.
# RUN: fencepost prune %s 2>&1
kernel @copies_of_one_wave waves=2 {
  shared %a : 64
  shared %b : 64
  if wave == 0 {
    gather_to_lds %a
    gather_to_lds %b
  }
  wait_count load=1
  barrier
  read %a
}
# CHECK:      wait_count load=1
# CHECK-NEXT: barrier
# CHECK-NEXT: read %a
# CHECK:      0 barriers and waits removed, 2 kept
