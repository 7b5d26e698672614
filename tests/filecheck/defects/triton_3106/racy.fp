# One multiplication may stay pending because %a has two slots; %b has one, and is overwritten while it is read.
# RUN: fencepost check %s
# EXIT: 1
# RUN: fencepost insert %s --strategy minimize 2>&1 | filecheck %s --check-prefix=INSERT
# RUN: fencepost insert %s --strategy minimize | fencepost check - | filecheck %s --check-prefix=CLEAN
# RUN: fencepost insert %s --strategy eager | fencepost check - | filecheck %s --check-prefix=CLEAN
# RUN: fencepost insert %s --strategy walk | fencepost check - | filecheck %s --check-prefix=CLEAN
kernel @operands waves=4 {
  shared %a : 2 x 1024
  shared %b : 1024
  write %a[0]
  write %b
  loop %i in 0..16 {
    barrier
    async_mma %a[%i % 2], %b
    wait_count mma=1
    barrier
    write %a[(%i + 1) % 2]
    write %b
  }
}
# CHECK: error[FP001]: wave 0 can write %b while wave 0's engine may still be reading
# CHECK-NEXT: --> racy.fp:15:5, racy.fp:19:5 and racy.fp:16:5
# CHECK: = why: `wait_count mma=1` lets the newest async_mma stay in flight, and that is the one that reads what is overwritten here
# CHECK: @operands: 1 race
# INSERT:          wait_count mma=0
# INSERT-NEXT:     barrier
# INSERT-NEXT:     write %a[(%i + 1) % 2]
# INSERT-NEXT:     write %b
# INSERT-NEXT:   }
# INSERT: @operands: 0 barriers inserted
# CLEAN: no race, no deadlock
