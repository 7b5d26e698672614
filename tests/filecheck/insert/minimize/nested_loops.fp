# The read runs in the inner loop, the write beside it: both barriers stay outside of the inner loop.
# RUN: fencepost insert %s --target gfx942 --strategy minimize
# RUN: fencepost insert %s --target gfx942 --strategy eager | filecheck %s --check-prefix=EAGER
kernel @nested_loops waves=4 {
  shared %a : 1024
  loop %i in 0..4 {
    loop %j in 0..8 {
      read %a
    }
    write %a
  }
}
# CHECK:        loop %i in 0..4 {
# CHECK-NEXT:     barrier  # write → read %a, next iteration
# CHECK-NEXT:     loop %j in 0..8 {
# CHECK-NEXT:       read %a
# CHECK-NEXT:     }
# CHECK-NEXT:     barrier  # read → write %a
# CHECK-NEXT:     write %a
# CHECK-NEXT:   }
# EAGER:        loop %j in 0..8 {
# EAGER-NEXT:     barrier  # write → read %a, next iteration
# EAGER-NEXT:     read %a
# EAGER-NEXT:   }
# EAGER-NEXT:   barrier  # read → write %a
# EAGER-NEXT:   write %a
