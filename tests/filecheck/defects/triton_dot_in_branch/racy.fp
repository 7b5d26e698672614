# One side keeps the tile in registers; the other reads it from memory, behind the copy that fills its slot again.
# RUN: fencepost check %s
# EXIT: 1
# RUN: fencepost insert %s --strategy minimize 2>&1 | filecheck %s --check-prefix=INSERT
# RUN: fencepost insert %s --strategy minimize | fencepost check - | filecheck %s --check-prefix=CLEAN
# RUN: fencepost insert %s --strategy eager | fencepost check - | filecheck %s --check-prefix=CLEAN
# RUN: fencepost insert %s --strategy walk | fencepost check - | filecheck %s --check-prefix=CLEAN
kernel @ring waves=4 {
  shared %x : 2 x 1024
  gather_to_lds %x[0]
  gather_to_lds %x[1]
  loop %i in 0..16 {
    wait_count load=1
    barrier
    read %x[%i % 2]
    barrier
    gather_to_lds %x[(%i + 2) % 2]
    if %c {
      async_mma %x[%i % 2]
      wait_count mma=0
    }
  }
}
# CHECK: error[FP001]: wave 0's engine can read %x[%i % 2] while its own copy into it is under way
# CHECK-NEXT: --> racy.fp:17:5 and racy.fp:19:7
# CHECK: @ring: 1 race
# INSERT:          if %c {
# INSERT-NEXT:       barrier load=0
# INSERT-NEXT:       async_mma %x[%i % 2]
# INSERT: @ring: 1 barrier inserted
# CLEAN: no race, no deadlock
