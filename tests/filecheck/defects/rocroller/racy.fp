# Only write → read was looked at: the read is not ordered before the write that follows it.
# RUN: fencepost check %s
# EXIT: 1
# RUN: fencepost insert %s --strategy minimize 2>&1 | filecheck %s --check-prefix=INSERT
# RUN: fencepost insert %s --strategy minimize | fencepost check - | filecheck %s --check-prefix=CLEAN
# RUN: fencepost insert %s --strategy eager | fencepost check - | filecheck %s --check-prefix=CLEAN
# RUN: fencepost insert %s --strategy walk | fencepost check - | filecheck %s --check-prefix=CLEAN
kernel @only_raw waves=4 {
  shared %a : 1024
  loop %i in 0..8 {
    barrier
    read %a
    write %a
  }
}
# CHECK: error[FP001]: wave 1 can write %a before wave 0 has read it
# CHECK-NEXT: --> racy.fp:12:5 and racy.fp:13:5
# CHECK: @only_raw: 1 race
# INSERT:        loop %i in 0..8 {
# INSERT-NEXT:     barrier
# INSERT-NEXT:     read %a
# INSERT-NEXT:     barrier  # read → write %a
# INSERT-NEXT:     write %a
# INSERT-NEXT:   }
# INSERT: @only_raw: 1 barrier inserted
# CLEAN: no race, no deadlock
