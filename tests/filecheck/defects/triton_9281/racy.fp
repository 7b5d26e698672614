# An mbarrier as the bytes that it is made of: one wave sets them up, the others arrive before it has.
# RUN: fencepost check %s
# EXIT: 1
# RUN: fencepost insert %s --strategy minimize 2>&1 | filecheck %s --check-prefix=INSERT
# RUN: fencepost insert %s --strategy minimize | fencepost check - | filecheck %s --check-prefix=CLEAN
# RUN: fencepost insert %s --strategy eager | fencepost check - | filecheck %s --check-prefix=CLEAN
# RUN: fencepost insert %s --strategy walk | fencepost check - | filecheck %s --check-prefix=CLEAN
kernel @object waves=4 {
  shared %bar : 2 x 8
  if wave == 0 {
    write %bar
  }
  atomic %bar[0]
}
# CHECK: error[FP001]: wave 1 can update %bar[0] before wave 0 has written %bar, which shares bytes with it
# CHECK-NEXT: --> racy.fp:11:5 and racy.fp:13:3
# CHECK: @object: 1 race
# INSERT:        }
# INSERT-NEXT:   barrier  # write → update %bar
# INSERT-NEXT:   atomic %bar[0]
# INSERT-NEXT: }
# INSERT: @object: 1 barrier inserted
# CLEAN: no race, no deadlock
