# Slot 2 of four and slot 1 of two share bytes, although their numbers differ.
# RUN: fencepost check %s
# EXIT: 1
# RUN: fencepost insert %s --strategy minimize 2>&1 | filecheck %s --check-prefix=INSERT
# RUN: fencepost insert %s --strategy minimize | fencepost check - | filecheck %s --check-prefix=CLEAN
# RUN: fencepost insert %s --strategy eager | fencepost check - | filecheck %s --check-prefix=CLEAN
# RUN: fencepost insert %s --strategy walk | fencepost check - | filecheck %s --check-prefix=CLEAN
kernel @reshaped waves=4 {
  shared %quarters : 4 x 128 at 0
  shared %halves : 2 x 256 at 0
  write %quarters[2]
  read %halves[1]
}
# CHECK: error[FP001]: wave 1 can read %halves[1] before wave 0 has written %quarters[2], which shares bytes with it
# CHECK-NEXT: --> racy.fp:11:3 and racy.fp:12:3
# CHECK: @reshaped: 1 race
# INSERT:        write %quarters[2]
# INSERT-NEXT:   barrier  # write → read %quarters/%halves
# INSERT-NEXT:   read %halves[1]
# INSERT-NEXT: }
# INSERT: @reshaped: 1 barrier inserted
# CLEAN: no race, no deadlock
