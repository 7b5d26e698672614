# The same with a barrier.
# RUN: fencepost check %s
# RUN: fencepost insert %s 2>&1 | filecheck %s --check-prefix=SAME
kernel @reshaped waves=4 {
  shared %quarters : 4 x 128 at 0
  shared %halves : 2 x 256 at 0
  write %quarters[2]
  barrier
  read %halves[1]
}
# CHECK: @reshaped: no race, no deadlock
# SAME: @reshaped: 0 barriers inserted
