# One wave copies and waits; the barrier tells the others and has to stay.
# RUN: fencepost prune %s 2>&1
kernel @copy_of_one_wave waves=2 {
  shared %a : 64
  if wave == 0 {
    gather_to_lds %a
    wait_count load=0
  }
  barrier
  read %a
}
# CHECK:      wait_count load=0
# CHECK:      barrier
# CHECK-NEXT: read %a
# CHECK:      0 barriers removed, 1 kept
