# Closed in front of the loop, the hazard is closed for the loop and for what stands behind it.
# RUN: fencepost insert %s --strategy minimize
# RUN: fencepost insert %s --strategy minimize | fencepost check - | filecheck %s --check-prefix=CLEAN
# RUN: fencepost insert %s --strategy walk | filecheck %s --check-prefix=WALK
# RUN: fencepost insert %s --strategy walk | fencepost check - | filecheck %s --check-prefix=CLEAN
kernel @skipped_loop waves=4 {
  shared %a : 1024
  write %a
  loop %i in 0..? {
    read %a
  }
  read %a
}
# CHECK:        write %a
# CHECK-NEXT:   barrier  # write → read %a
# CHECK-NEXT:   loop %i in 0..? {
# CHECK-NEXT:     read %a
# CHECK-NEXT:   }
# CHECK-NEXT:   read %a
# CHECK-NEXT: }
# WALK:         loop %i in 0..? {
# WALK-NEXT:      barrier  # write → read %a
# WALK-NEXT:      read %a
# WALK-NEXT:    }
# WALK-NEXT:    barrier  # write → read %a
# WALK-NEXT:    read %a
# CLEAN: no race, no deadlock
