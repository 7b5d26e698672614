# The write of the next iteration meets reads that are not done.
# RUN: fencepost check %s
# EXIT: 1
# RUN: fencepost insert %s --strategy minimize 2>&1 | filecheck %s --check-prefix=INSERT
# RUN: fencepost insert %s --strategy minimize | fencepost check - | filecheck %s --check-prefix=CLEAN
# RUN: fencepost insert %s --strategy eager | fencepost check - | filecheck %s --check-prefix=CLEAN
# RUN: fencepost insert %s --strategy walk | fencepost check - | filecheck %s --check-prefix=CLEAN
kernel @again waves=4 {
  shared %a : 1024
  loop %i in 0..8 {
    write %a
    barrier
    read %a
  }
}
# CHECK: error[FP001]: wave 1 can write %a before wave 0 has read it
# CHECK-NEXT: --> racy.fp:13:5 and racy.fp:11:5
# CHECK: @again: 1 race
# INSERT:        loop %i in 0..8 {
# INSERT-NEXT:     barrier  #
# INSERT-NEXT:     write %a
# INSERT-NEXT:     barrier
# INSERT-NEXT:     read %a
# INSERT-NEXT:   }
# INSERT: @again: 1 barrier inserted
# CLEAN: no race, no deadlock
