# An exchange has a barrier inside: what comes before it needs no pair, and no pair reaches past it.
# RUN: fencepost insert %s --target gfx1201
# RUN: fencepost insert %s --target gfx1201 | fencepost check - | filecheck %s --check-prefix=CLEAN
kernel @exchange waves=4 {
  shared %a : 1024
  shared %s : 512
  write %a
  mma
  mma
  mma
  mma
  mma
  mma
  mma
  mma
  exchange %s
  read %a
  mma
  mma
  mma
  mma
  mma
  mma
  mma
  mma
  write %a
}
# CHECK:      kernel @exchange waves=4 {
# CHECK-NEXT:   shared %a : 1024
# CHECK-NEXT:   shared %s : 512
# CHECK-NEXT:   write %a
# CHECK-NEXT:   mma
# CHECK:        exchange %s
# CHECK-NEXT:   read %a
# CHECK-NEXT:   mma
# CHECK:        signal  # read → write %a
# CHECK-NEXT:   mma
# CHECK:        wait  # read → write %a
# CHECK-NEXT:   write %a
# CHECK-NEXT: }
# CLEAN: no race, no deadlock
