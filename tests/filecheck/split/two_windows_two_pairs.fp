# Windows that have nothing in common get a pair each.
# RUN: fencepost insert %s --target gfx1201
# RUN: fencepost insert %s --target gfx1201 | fencepost check - | filecheck %s --check-prefix=CLEAN
kernel @two_windows_two_pairs waves=4 {
  shared %a : 1024
  shared %b : 1024
  write %a
  mma
  mma
  mma
  mma
  mma
  mma
  mma
  mma
  read %a
  write %b
  mma
  mma
  mma
  mma
  mma
  mma
  mma
  mma
  read %b
}
# CHECK:      kernel @two_windows_two_pairs waves=4 {
# CHECK-NEXT:   shared %a : 1024
# CHECK-NEXT:   shared %b : 1024
# CHECK-NEXT:   write %a
# CHECK-NEXT:   mma
# CHECK:        signal  # write → read %a
# CHECK-NEXT:   mma
# CHECK:        wait  # write → read %a
# CHECK-NEXT:   read %a
# CHECK-NEXT:   write %b
# CHECK-NEXT:   mma
# CHECK:        signal  # write → read %b
# CHECK-NEXT:   mma
# CHECK:        wait  # write → read %b
# CHECK-NEXT:   read %b
# CHECK-NEXT: }
# CLEAN: no race, no deadlock
