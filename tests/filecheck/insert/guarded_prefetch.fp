# The last iterations issue no copy. How many are left decides over copies and waits alike, so nothing is waited for twice.
# RUN: fencepost insert %s --target sm_80
kernel @guarded_prefetch waves=4 {
  shared %ring : 2 x 4096
  param %n
  gather_to_lds %ring[0]
  commit load
  loop %i in 0..%n {
    if %i + 1 < %n {
      gather_to_lds %ring[(%i + 1) % 2]
      commit load
    }
    if %i + 1 < %n {
      wait_count load=1
    } else {
      wait_count load=0
    }
    read %ring[%i % 2]
  }
}
# CHECK:      loop %i
# CHECK-NEXT:   if %i + 1 < %n {
# CHECK-NEXT:     barrier  # read → copy %ring, next iteration
# CHECK-NEXT:     gather_to_lds %ring[(%i + 1) % 2]
# CHECK-NEXT:     commit load
# CHECK-NEXT:   }
# CHECK-NEXT:   if %i + 1 < %n {
# CHECK-NEXT:     wait_count load=1
# CHECK-NEXT:   } else {
# CHECK-NEXT:     wait_count load=0
# CHECK-NEXT:   }
# CHECK-NEXT:   barrier  # copy → read %ring; copy → read %ring, next iteration
# CHECK-NEXT:   read %ring[%i % 2]
