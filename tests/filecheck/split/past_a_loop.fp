# A pair reaches past a loop that does not synchronize and does not touch the memory.
# RUN: fencepost insert %s --target gfx1201
# RUN: fencepost insert %s --target gfx1201 | fencepost check - | filecheck %s --check-prefix=CLEAN
kernel @past_a_loop waves=4 {
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
  loop %i in 0..8 {
    read %b
  }
  read %a
}
# CHECK:      kernel @past_a_loop waves=4 {
# CHECK-NEXT:   shared %a : 1024
# CHECK-NEXT:   shared %b : 1024
# CHECK-NEXT:   write %a
# CHECK-NEXT:   mma
# CHECK:        signal  # write → read %a
# CHECK-NEXT:   mma
# CHECK:        loop %i in 0..8 {
# CHECK-NEXT:     read %b
# CHECK-NEXT:   }
# CHECK-NEXT:   wait  # write → read %a
# CHECK-NEXT:   read %a
# CHECK-NEXT: }
# CLEAN: no race, no deadlock
