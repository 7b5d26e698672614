# Copies are waited for before the signal; the wait for the other waves comes later.
# RUN: fencepost insert %s --target gfx1201
# RUN: fencepost insert %s --target gfx1201 | fencepost check - | filecheck %s --check-prefix=CLEAN
kernel @copies waves=4 {
  shared %a : 2 x 1024
  loop %i in 0..3 {
    write %a[(%i + 1) % 2]
    mma
    mma
    mma
    mma
    mma
    mma
    mma
    mma
    loop %j in 0..? {
      gather_to_lds %a[%i % 2]
    }
  }
  gather_to_lds %a[1]
  tensor_load_to_lds %a[0]
  mma
  mma
  mma
  mma
  mma
  mma
  mma
  mma
  write %a[1]
}
# CHECK:      kernel @copies waves=4 {
# CHECK-NEXT:   shared %a : 2 x 1024
# CHECK-NEXT:   loop %i in 0..3 {
# CHECK-NEXT:     write %a[(%i + 1) % 2]
# CHECK-NEXT:     mma
# CHECK:          loop %j in 0..? {
# CHECK-NEXT:       gather_to_lds %a[%i % 2]
# CHECK-NEXT:     }
# CHECK-NEXT:     barrier load=0  # copy → write %a, next iteration; write → copy %a, next iteration; and more
# CHECK-NEXT:   }
# CHECK-NEXT:   gather_to_lds %a[1]
# CHECK-NEXT:   wait_count load=0  # copy → write %a
# CHECK-NEXT:   signal  # copy → write %a
# CHECK-NEXT:   tensor_load_to_lds %a[0]
# CHECK-NEXT:   mma
# CHECK:        wait  # copy → write %a
# CHECK-NEXT:   write %a[1]
# CHECK-NEXT: }
# CLEAN: no race, no deadlock
