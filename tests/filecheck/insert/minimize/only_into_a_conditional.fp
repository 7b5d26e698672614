# A window that ends inside a conditional is closed there: half of the runs do without the barrier.
# RUN: fencepost insert %s --strategy minimize
kernel @only_into_a_conditional waves=4 {
  shared %a : 1024
  write %a
  if %c {
    read %a
  }
}
# CHECK:        if %c {
# CHECK-NEXT:     barrier  # write → read %a
# CHECK-NEXT:     read %a
# CHECK-NEXT:   }
