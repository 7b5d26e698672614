# The same with a barrier in front of the call.
# RUN: fencepost check %s
# RUN: fencepost insert %s 2>&1 | filecheck %s --check-prefix=SAME
func @f {
  shared %scratch : 256 at 0
  write %scratch
}

kernel @caller waves=4 {
  shared %s : 256 at 0
  read %s
  barrier
  call @f
}
# CHECK: @caller: no race, no deadlock
# SAME: @caller: 0 barriers inserted
