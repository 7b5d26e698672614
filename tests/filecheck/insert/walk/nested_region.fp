# The walk goes into loops and conditionals and takes along what it knows about owners.
# RUN: fencepost insert %s --target gfx942 --strategy walk
kernel @nested_region waves=4 {
  shared %a : 1024
  write %a
  if %c {
    loop %i in 0..8 {
      read %a
    }
  }
}
# CHECK:        if %c {
# CHECK-NEXT:     loop %i in 0..8 {
# CHECK-NEXT:       barrier  # write → read %a
# CHECK-NEXT:       read %a
# CHECK-NEXT:     }
# CHECK-NEXT:   }
# CHECK-NEXT: }
