# Only the first two iterations write, each another slot: nothing comes round to the same one.
# RUN: fencepost insert %s --strategy eager
kernel @first_iterations waves=4 {
  shared %b : 3 x 64
  loop %i in 0..? carry %x = 2 {
    if %i < 2 {
      write %b[%x]
    }
    next (%x + 1) % 3
  }
}
# CHECK:      if %i < 2 {
# CHECK-NEXT:   write %b[%x]
# CHECK-NEXT: }
