# Loops inside each other: every pair stays in the region of its barrier.
# RUN: fencepost insert %s --target gfx1201
# RUN: fencepost insert %s --target gfx1201 | fencepost check - | filecheck %s --check-prefix=CLEAN
kernel @nested_loops waves=4 {
  shared %a : 1024
  shared %b : 1024
  loop %i in 0..8 {
    mma
    mma
    mma
    mma
    mma
    mma
    mma
    mma
    write %a
    mma
    mma
    mma
    mma
    mma
    mma
    mma
    mma
    loop %j in 0..4 {
      mma
      mma
      mma
      mma
      mma
      mma
      mma
      mma
      read %a
      write %b
      mma
      mma
      mma
      mma
      mma
      mma
      mma
      mma
      read %b
      mma
      mma
      mma
      mma
      mma
      mma
      mma
      mma
    }
    mma
    mma
    mma
    mma
    mma
    mma
    mma
    mma
  }
}
# CHECK:      kernel @nested_loops waves=4 {
# CHECK-NEXT:   shared %a : 1024
# CHECK-NEXT:   shared %b : 1024
# CHECK-NEXT:   loop %i in 0..8 {
# CHECK-NEXT:     mma
# CHECK:          write %a
# CHECK-NEXT:     mma
# CHECK:          loop %j in 0..4 {
# CHECK-NEXT:       mma
# CHECK:            signal  # write → read %a; read → write %b, next iteration
# CHECK-NEXT:       mma
# CHECK:            wait  # write → read %a; read → write %b, next iteration
# CHECK-NEXT:       read %a
# CHECK-NEXT:       write %b
# CHECK-NEXT:       mma
# CHECK:            signal  # write → read %b; read → write %a, next iteration
# CHECK-NEXT:       mma
# CHECK:            wait  # write → read %b; read → write %a, next iteration
# CHECK-NEXT:       read %b
# CHECK-NEXT:       mma
# CHECK:          }
# CHECK-NEXT:     mma
# CHECK:        }
# CHECK-NEXT: }
# CLEAN: no race, no deadlock
