# Every path from the copy to a read comes by a barrier that waits.
# RUN: fencepost insert %s --strategy minimize
# RUN: fencepost insert %s | fencepost check - | filecheck %s --check-prefix=CLEAN
kernel @k waves=4 {
  shared %a : 1024
  gather_to_lds %a
  if %c {
    read %a
  }
  read %a
}
# CHECK:        gather_to_lds %a
# CHECK-NEXT:   barrier load=0  # copy → read %a
# CHECK-NEXT:   if %c {
# CHECK-NEXT:     read %a
# CHECK-NEXT:   }
# CHECK-NEXT:   read %a
# CHECK-NEXT: }
# CLEAN: no race, no deadlock
