# The read may be under way when the wave's engine begins to copy: the LDS counter has to come down to zero.
# RUN: fencepost insert %s
# RUN: fencepost insert %s | fencepost check - | filecheck %s --check-prefix=CLEAN
kernel @fence_before_a_copy waves=4 {
  shared %a : 64
  if wave >= 3 {
    read %a
    gather_to_lds %a
  }
}
# CHECK:          read %a
# CHECK-NEXT:     wait_count lds=0  # read → copy %a
# CHECK-NEXT:     gather_to_lds %a
# CLEAN: no race, no deadlock
