# With the frame left out, the function's scratch seems to be the start of %big: a barrier that nothing needs, and none
# where its bytes are read.
# RUN: fencepost check %s
# EXIT: 1
# RUN: fencepost prune %s | fencepost insert - | filecheck %s --check-prefix=INSERT
# RUN: fencepost insert %s --strategy minimize | fencepost check - | filecheck %s --check-prefix=CLEAN
# RUN: fencepost insert %s --strategy eager | fencepost check - | filecheck %s --check-prefix=CLEAN
# RUN: fencepost insert %s --strategy walk | fencepost check - | filecheck %s --check-prefix=CLEAN
func @f {
  shared %scratch : 256 at 0
  write %scratch
}

kernel @caller waves=4 {
  shared %big : 1024 at 0
  shared %tail : 256 at 1024
  write %big
  barrier
  call @f at 1024
  read %tail
}
# CHECK: error[FP001]: wave 1 can read %tail before wave 0 has written %scratch, which shares bytes with it
# CHECK-NEXT: --> racy.fp:11:3 and racy.fp:20:3
# CHECK: = calls: the first in @f (line 19), the second in the kernel itself
# CHECK: @caller: 1 race
# INSERT:        write %big
# INSERT-NEXT:   call @f at 1024
# INSERT-NEXT:   barrier  # write → read %scratch/%tail
# INSERT-NEXT:   read %tail
# INSERT-NEXT: }
# CLEAN: no race, no deadlock
