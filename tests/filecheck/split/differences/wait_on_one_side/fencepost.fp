# Both halves stand on the side that needs them.
# RUN: fencepost insert %s --target gfx1201
# RUN: fencepost insert %s --target gfx1201 | fencepost check - | filecheck %s --check-prefix=CLEAN
kernel @wait_on_one_side waves=4 {
  shared %a : 1024
  write %a
  if %c {
    read %a
  }
}
# CHECK:        if %c {
# CHECK-NEXT:     barrier  # write → read %a
# CHECK-NEXT:     read %a
# CLEAN: no race, no deadlock
