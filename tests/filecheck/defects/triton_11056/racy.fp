# A wave waits for its own engine; that the engines of the other waves are done as well, only a barrier behind the wait says.
# RUN: fencepost check %s
# EXIT: 1
# RUN: fencepost insert %s --strategy minimize 2>&1 | filecheck %s --check-prefix=INSERT
# RUN: fencepost insert %s --strategy minimize | fencepost check - | filecheck %s --check-prefix=CLEAN
# RUN: fencepost insert %s --strategy eager | fencepost check - | filecheck %s --check-prefix=CLEAN
# RUN: fencepost insert %s --strategy walk | fencepost check - | filecheck %s --check-prefix=CLEAN
kernel @groups waves=8 {
  shared %a : 4096
  shared %b : 4096
  loop %i in 0..8 {
    barrier load=0
    async_mma %a, %b
    wait_count mma=0
    gather_to_lds %a
  }
}
# CHECK: error[FP001]: wave 1 can start a copy into %a while wave 0's engine may still be reading
# CHECK-NEXT: --> racy.fp:13:5 and racy.fp:15:5
# CHECK: = why: the engine's read was waited for, but no barrier after that wait tells the other waves
# CHECK: @groups: 1 race
# INSERT:          async_mma %a, %b
# INSERT-NEXT:     wait_count mma=0
# INSERT-NEXT:     barrier  #
# INSERT-NEXT:     gather_to_lds %a
# INSERT-NEXT:   }
# INSERT: @groups: 1 barrier inserted
# CLEAN: no race, no deadlock
