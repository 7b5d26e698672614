# The wait leaves one multiplication pending, and with three slots that is the one that reads what the copy overwrites.
# RUN: fencepost check %s
# EXIT: 1
# RUN: fencepost insert %s --strategy minimize 2>&1 | filecheck %s --check-prefix=INSERT
# RUN: fencepost insert %s --strategy minimize | fencepost check - | filecheck %s --check-prefix=CLEAN
# RUN: fencepost insert %s --strategy eager | fencepost check - | filecheck %s --check-prefix=CLEAN
# RUN: fencepost insert %s --strategy walk | fencepost check - | filecheck %s --check-prefix=CLEAN
kernel @ring waves=4 {
  shared %s : 3 x 1024
  gather_to_lds %s[0]
  gather_to_lds %s[1]
  loop %i in 0..16 {
    wait_count load=1 mma=1
    barrier
    gather_to_lds %s[(%i + 2) % 3]
    async_mma %s[%i % 3]
  }
}
# CHECK: error[FP001]: wave 0 can start a copy into %s[(%i + 2) % 3] while wave 0's engine may still be reading %s[%i % 3]
# CHECK-NEXT: --> racy.fp:16:5, racy.fp:15:5 and racy.fp:13:5
# CHECK: = why: `wait_count load=1 mma=1` lets the newest async_mma stay in flight, and that is the one that reads what is overwritten here
# CHECK: @ring: 1 race
# INSERT:          wait_count load=1 mma=0
# INSERT-NEXT:     barrier
# INSERT-NEXT:     gather_to_lds %s[(%i + 2) % 3]
# INSERT-NEXT:     async_mma %s[%i % 3]
# INSERT-NEXT:   }
# INSERT: @ring: 0 barriers inserted
# CLEAN: no race, no deadlock
