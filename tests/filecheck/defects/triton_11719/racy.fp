# A read whose data was waited for, then a refill of the same buffer: the wait orders copy and read, not read and refill.
# RUN: fencepost check %s
# EXIT: 1
# RUN: fencepost insert %s --strategy minimize 2>&1 | filecheck %s --check-prefix=INSERT
# RUN: fencepost insert %s --strategy minimize | fencepost check - | filecheck %s --check-prefix=CLEAN
# RUN: fencepost insert %s --strategy eager | fencepost check - | filecheck %s --check-prefix=CLEAN
# RUN: fencepost insert %s --strategy walk | fencepost check - | filecheck %s --check-prefix=CLEAN
kernel @refill waves=4 {
  shared %a : 1024
  gather_to_lds %a
  wait_count load=0
  barrier
  loop %i in 0..8 {
    %x = read %a
    gather_to_lds %a
    mma %x
    wait_count load=0
    barrier
  }
}
# CHECK: error[FP001]: wave 0 can start a copy into %a before wave 0 has read it
# CHECK-NEXT: --> racy.fp:14:5 and racy.fp:15:5
# CHECK: @refill: 1 race
# INSERT:        loop %i in 0..8 {
# INSERT-NEXT:     %x = read %a
# INSERT-NEXT:     barrier  # read → copy %a
# INSERT-NEXT:     gather_to_lds %a
# INSERT-NEXT:     mma %x
# INSERT-NEXT:     wait_count load=0
# INSERT-NEXT:     barrier
# INSERT-NEXT:   }
# INSERT: @refill: 1 barrier inserted
# CLEAN: no race, no deadlock
