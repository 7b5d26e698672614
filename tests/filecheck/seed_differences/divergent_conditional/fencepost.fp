# The barrier stands in front of the conditional, where all waves meet it.
# RUN: fencepost insert %s --strategy minimize
# RUN: fencepost insert %s --strategy eager
# RUN: fencepost insert %s --strategy walk
# RUN: fencepost insert %s | fencepost check - | filecheck %s --check-prefix=CLEAN
kernel @divergent_conditional waves=4 {
  shared %a : 1024
  write %a
  if wave < 2 {
    read %a
  }
}
# CHECK:        write %a
# CHECK-NEXT:   barrier  # write → read %a
# CHECK-NEXT:   if wave < 2 {
# CHECK-NEXT:     read %a
# CHECK-NEXT:   }
# CLEAN: no race, no deadlock
