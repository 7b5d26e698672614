# A remainder of the counter decides one slot, the counter itself another: it must not be reduced.
# RUN: fencepost insert %s
# RUN: fencepost insert %s | fencepost check - | filecheck %s --check-prefix=CLEAN
kernel @counter_used_whole_and_as_remainder waves=2 {
  shared %a : 8 x 64
  shared %b : 3 x 64
  loop %i in 0..6 carry %x = 0 {
    write %a[%x + 1]
    read %b[%x % 3]
    next %x + 1
  }
  read %a[6]
}
# CHECK:        barrier  # write → read %a
# CHECK-NEXT:   read %a[6]
# CLEAN: no race, no deadlock
