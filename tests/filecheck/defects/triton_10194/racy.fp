# The counts are those of the copies' old order, in which %a came first: now they leave the copy outstanding that is read next.
# RUN: fencepost check --all %s
# EXIT: 1
# RUN: fencepost insert %s --strategy minimize 2>&1 | filecheck %s --check-prefix=INSERT
# RUN: fencepost insert %s --strategy minimize | fencepost check - | filecheck %s --check-prefix=CLEAN
# RUN: fencepost insert %s --strategy eager | fencepost check - | filecheck %s --check-prefix=CLEAN
# RUN: fencepost insert %s --strategy walk | fencepost check - | filecheck %s --check-prefix=CLEAN
kernel @reordered waves=4 {
  shared %a : 2 x 1024
  shared %b : 2 x 1024
  gather_to_lds %a[0]
  gather_to_lds %b[0]
  loop %i in 0..16 {
    wait_count load=1
    barrier
    %x = read %a[%i % 2]
    wait_count load=1
    barrier
    %y = read %b[%i % 2]
    mma %x, %y
    gather_to_lds %b[(%i + 1) % 2]
    gather_to_lds %a[(%i + 1) % 2]
  }
}
# CHECK: error[FP001]: wave 0 can read %a[%i % 2] while its own copy into it is under way
# CHECK-NEXT: --> racy.fp:22:5, racy.fp:16:5 and racy.fp:14:5
# CHECK: = why: `wait_count load=1` lets the newest copy stay in flight, and that is the copy read here
# CHECK: error[FP001]: wave 0 can read %b[%i % 2] while its own copy into it is under way
# CHECK-NEXT: --> racy.fp:12:3, racy.fp:19:5 and racy.fp:17:5
# CHECK: @reordered: 2 races
# INSERT:          wait_count load=0
# INSERT-NEXT:     barrier
# INSERT-NEXT:     %x = read %a[%i % 2]
# INSERT: @reordered: 0 barriers inserted
# CLEAN: no race, no deadlock
