# Some waves have one number, some the other: neither is known of all.
# RUN: fencepost insert %s
# RUN: fencepost insert %s | fencepost check - | filecheck %s --check-prefix=CLEAN
kernel @given_by_either_side waves=4 {
  shared %a : 2 x 64
  if wave < 2 gives %n {
    give 0
  } else {
    give 1
  }
  write %a[0]
  read %a[%n]
}
# CHECK:        write %a[0]
# CHECK-NEXT:   barrier  # write → read %a
# CHECK-NEXT:   read %a[%n]
# CLEAN: no race, no deadlock
