# A condition on the loop's variable that follows no rule may hold in any iteration; slots are told apart all the same.
# RUN: fencepost insert %s
kernel @unknown_guard waves=4 {
  shared %ring : 3 x 4096
  param %n
  loop %i in 0..? {
    if %i * %i < %n {
      write %ring[(%i + 1) % 3]
    }
    barrier
    read %ring[%i % 3]
  }
}
# CHECK:      if %i * %i < %n {
# CHECK-NEXT:   write %ring[(%i + 1) % 3]
# CHECK-NEXT: }
# CHECK-NEXT: barrier
# CHECK-NEXT: read %ring[%i % 3]
# CHECK-NEXT: }
