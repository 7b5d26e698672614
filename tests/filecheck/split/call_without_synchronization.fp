# A pair reaches past a call of a function that does not synchronize.
# RUN: fencepost insert %s --target gfx1201
# RUN: fencepost insert %s --target gfx1201 | fencepost check - | filecheck %s --check-prefix=CLEAN
func @quiet {
  shared %s : 512
  read %s
}
kernel @call_without_synchronization waves=4 {
  shared %a : 1024
  write %a
  mma
  mma
  mma
  mma
  mma
  mma
  mma
  mma
  call @quiet at 4096
  read %a
}
# CHECK:      func @quiet {
# CHECK-NEXT:   shared %s : 512
# CHECK-NEXT:   read %s
# CHECK-NEXT: }
# CHECK-EMPTY:
# CHECK-NEXT: kernel @call_without_synchronization waves=4 {
# CHECK-NEXT:   shared %a : 1024
# CHECK-NEXT:   write %a
# CHECK-NEXT:   mma
# CHECK:        signal  # write → read %a
# CHECK-NEXT:   mma
# CHECK:        call @quiet at 4096
# CHECK-NEXT:   wait  # write → read %a
# CHECK-NEXT:   read %a
# CHECK-NEXT: }
# CLEAN: no race, no deadlock
