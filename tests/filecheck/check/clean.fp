# A clean kernel: exit code 0, and a word on how much was looked at.
# RUN: fencepost check %s
kernel @clean waves=4 {
  shared %a : 1024
  write %a
  barrier
  read %a
}
# CHECK-NOT: error
# CHECK:     clean.fp: @clean: no race, no deadlock ({{.*}}nothing was left out)
