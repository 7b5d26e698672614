# The barrier inside an exchange stands between its write and its read; the next one's write still meets that read.
# RUN: fencepost check %s
# EXIT: 1
# RUN: fencepost insert %s --strategy minimize 2>&1 | filecheck %s --check-prefix=INSERT
# RUN: fencepost insert %s --strategy minimize | fencepost check - | filecheck %s --check-prefix=CLEAN
# RUN: fencepost insert %s --strategy eager | fencepost check - | filecheck %s --check-prefix=CLEAN
# RUN: fencepost insert %s --strategy walk | fencepost check - | filecheck %s --check-prefix=CLEAN
kernel @broadcast waves=4 {
  shared %s : 64
  gather_to_lds %s
  wait_count load=0
  barrier
  loop %i in 0..8 {
    exchange %s
  }
}
# CHECK: error[FP001]: wave 1 can write %s before wave 0 has read it
# CHECK-NEXT: --> racy.fp:14:5
# CHECK: @broadcast: 1 race
# INSERT:        loop %i in 0..8 {
# INSERT-NEXT:     barrier  #
# INSERT-NEXT:     exchange %s
# INSERT-NEXT:   }
# INSERT: @broadcast: 1 barrier inserted
# CLEAN: no race, no deadlock
