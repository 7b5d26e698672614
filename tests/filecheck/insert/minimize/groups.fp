# Parts of one tile operation do not conflict within one instance; with those of the next iteration they do.
# RUN: fencepost insert %s --target gfx942 --strategy minimize
# RUN: fencepost insert %s --target gfx942 --strategy eager
kernel @groups waves=4 {
  shared %a : 1024
  loop %i in 0..8 {
    write %a group=tile
    write %a group=tile
  }
}
# CHECK:        loop %i in 0..8 {
# CHECK-NEXT:     barrier  # write → write %a, next iteration
# CHECK-NEXT:     write %a group=tile
# CHECK-NEXT:     write %a group=tile
# CHECK-NEXT:   }
# CHECK-NEXT: }
