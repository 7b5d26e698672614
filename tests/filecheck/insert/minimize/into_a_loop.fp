# A hazard that enters a loop is closed once in front of it; eager pays for it in every iteration.
# RUN: fencepost insert %s --target gfx942 --strategy minimize
# RUN: fencepost insert %s --target gfx942 --strategy eager | filecheck %s --check-prefix=EAGER
# RUN: fencepost insert %s --target gfx942 --strategy walk | filecheck %s --check-prefix=EAGER
kernel @into_a_loop waves=4 {
  shared %a : 1024
  write %a
  loop %i in 0..8 {
    read %a
  }
}
# CHECK:        write %a
# CHECK-NEXT:   barrier  # write → read %a
# CHECK-NEXT:   loop %i in 0..8 {
# CHECK-NEXT:     read %a
# CHECK-NEXT:   }
# CHECK-NEXT: }
# EAGER:        write %a
# EAGER-NEXT:   loop %i in 0..8 {
# EAGER-NEXT:     barrier  # write → read %a
# EAGER-NEXT:     read %a
# EAGER-NEXT:   }
# EAGER-NEXT: }
