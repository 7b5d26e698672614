# A loop of unknown length can be left in any iteration: here before the first barrier was met.
# RUN: fencepost insert %s | fencepost check - | filecheck %s --check-prefix=CLEAN
# RUN: fencepost insert %s
kernel @left_early waves=2 {
  shared %a : 64
  loop %i in 0..? {
    if %i == 0 {
      write %a
    } else {
      barrier
    }
  }
  read %a
}
# CHECK:        barrier  # write → read %a
# CHECK-NEXT:   read %a
# CLEAN: no race, no deadlock
