# One barrier that waits for both copies covers what two barriers, each for one copy, would: they are kept as they
# stand, or their waits are taken apart first, whichever costs less.
# RUN: fencepost prune %s
kernel @k waves=4 {
  shared %b : 64
  shared %c : 64
  tensor_load_to_lds %b
  gather_to_lds %c
  barrier tensor=0 load=0
  read %b
  barrier async
  read %c
}
# CHECK:      gather_to_lds %c
# CHECK-NEXT: barrier tensor=0 load=0
# CHECK-NEXT: read %b
# CHECK-NEXT: read %c
