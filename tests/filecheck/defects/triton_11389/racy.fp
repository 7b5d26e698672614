# What the caller has read, the function writes first thing.
# RUN: fencepost check %s
# EXIT: 1
# RUN: fencepost insert %s --strategy minimize 2>&1 | filecheck %s --check-prefix=INSERT
# RUN: fencepost insert %s --strategy minimize | fencepost check - | filecheck %s --check-prefix=CLEAN
# RUN: fencepost insert %s --strategy eager | fencepost check - | filecheck %s --check-prefix=CLEAN
# RUN: fencepost insert %s --strategy walk | fencepost check - | filecheck %s --check-prefix=CLEAN
func @f {
  shared %scratch : 256 at 0
  write %scratch
}

kernel @caller waves=4 {
  shared %s : 256 at 0
  read %s
  call @f
}
# CHECK: error[FP001]: wave 1 can write %scratch before wave 0 has read %s, which shares bytes with it
# CHECK-NEXT: --> racy.fp:15:3 and racy.fp:10:3
# CHECK: = calls: the first in the kernel itself, the second in @f (line 16)
# CHECK: @caller: 1 race
# INSERT:        shared %scratch : 256 at 0
# INSERT-NEXT:   barrier  # read → write %s/%scratch
# INSERT-NEXT:   write %scratch
# INSERT-NEXT: }
# INSERT: @caller: 1 barrier inserted
# CLEAN: no race, no deadlock
