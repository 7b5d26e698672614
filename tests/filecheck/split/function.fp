# A pair inside a function serves the kernel that calls it, too.
# RUN: fencepost insert %s --target gfx1201
# RUN: fencepost insert %s --target gfx1201 | fencepost check - | filecheck %s --check-prefix=CLEAN
func @stage {
  shared %s : 512
  write %s
  mma
  mma
  mma
  mma
  mma
  mma
  mma
  mma
  read %s
  mma
  mma
  mma
  mma
  mma
  mma
  mma
  mma
}
kernel @function waves=4 {
  shared %a : 1024
  shared %b : 1024
  write %b
  call @stage at 4096
  read %b
}
# CHECK:      func @stage {
# CHECK-NEXT:   shared %s : 512
# CHECK-NEXT:   write %s
# CHECK-NEXT:   mma
# CHECK:        signal  # write → read %s; write → read %b
# CHECK-NEXT:   mma
# CHECK:        wait  # write → read %s; write → read %b
# CHECK-NEXT:   read %s
# CHECK-NEXT:   mma
# CHECK:      }
# CHECK-EMPTY:
# CHECK-NEXT: kernel @function waves=4 {
# CHECK-NEXT:   shared %a : 1024
# CHECK-NEXT:   shared %b : 1024
# CHECK-NEXT:   write %b
# CHECK-NEXT:   call @stage at 4096
# CHECK-NEXT:   read %b
# CHECK-NEXT: }
# CLEAN: no race, no deadlock
