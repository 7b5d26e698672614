# Pairs of one barrier do not overlap; here nothing lies between the halves, so that they stay whole.
# RUN: fencepost insert %s --target gfx1201
# RUN: fencepost insert %s --target gfx1201 | fencepost check - | filecheck %s --check-prefix=CLEAN
kernel @overlapping_pairs waves=4 {
  shared %c : 64
  shared %d : 64
  shared %e : 64
  loop %i in 0..8 {
    write %c
    read %c
    write %e
    read %d
    read %e
    write %d
    write %e
  }
}
# CHECK:        loop %i in 0..8 {
# CHECK-NEXT:     write %c
# CHECK-NEXT:     barrier  # write → read %c; write → write %e, next iteration
# CHECK-NEXT:     read %c
# CHECK-NEXT:     write %e
# CHECK-NEXT:     read %d
# CHECK-NEXT:     barrier  # write → read %e; read → write %d
# CHECK-NEXT:     read %e
# CHECK-NEXT:     write %d
# CHECK-NEXT:     barrier  # read → write %e
# CHECK-NEXT:     write %e
# CLEAN: no race, no deadlock
