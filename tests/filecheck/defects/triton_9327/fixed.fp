# One barrier, behind the call.
# RUN: fencepost check %s
# RUN: fencepost insert %s 2>&1 | filecheck %s --check-prefix=SAME
func @f {
  shared %scratch : 256 at 0
  write %scratch
}

kernel @caller waves=4 {
  shared %big : 1024 at 0
  shared %tail : 256 at 1024
  write %big
  call @f at 1024
  barrier
  read %tail
}
# CHECK: @caller: no race, no deadlock
# SAME: @caller: 0 barriers inserted
