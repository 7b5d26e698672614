# The barrier in the second loop runs 10 times and covers what the others, 9 times each, cover one of.
# RUN: fencepost prune %s
kernel @k waves=4 {
  shared %a : 64
  shared %b : 64
  write %a
  loop %i in 0..9 {
    barrier
  }
  write %b
  loop %j in 0..10 {
    barrier
  }
  read %a
  loop %k in 0..9 {
    barrier
  }
  read %b
}
# CHECK:      loop %i
# CHECK-NOT:  barrier
# CHECK:      loop %j
# CHECK-NEXT: barrier
# CHECK-NOT:  barrier
# CHECK:      read %b
