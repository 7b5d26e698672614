# Copies run three slots ahead in a ring of three: the slot that is being filled is the one that is read.
# RUN: fencepost check %s
# EXIT: 1
# RUN: fencepost insert %s --strategy minimize 2>&1 | filecheck %s --check-prefix=INSERT
# RUN: fencepost insert %s --strategy minimize | fencepost check - | filecheck %s --check-prefix=CLEAN
# RUN: fencepost insert %s --strategy eager | fencepost check - | filecheck %s --check-prefix=CLEAN
# RUN: fencepost insert %s --strategy walk | fencepost check - | filecheck %s --check-prefix=CLEAN
kernel @ring waves=4 {
  shared %s : 3 x 1024
  tensor_load_to_lds %s[0]
  tensor_load_to_lds %s[1]
  tensor_load_to_lds %s[2]
  loop %i in 0..16 {
    tensor_load_to_lds %s[(%i + 3) % 3]
    wait_count tensor=3
    barrier
    read %s[%i % 3]
    barrier
  }
}
# CHECK: error[FP001]: wave 0 can read %s[%i % 3] while its own copy into it is under way
# CHECK-NEXT: --> racy.fp:14:5, racy.fp:17:5 and racy.fp:15:5
# CHECK: = why: `wait_count tensor=3` lets the 3 newest copies stay in flight; the copy read here is the newest
# CHECK: @ring: 1 race
# INSERT:          tensor_load_to_lds %s[(%i + 3) % 3]
# INSERT-NEXT:     wait_count tensor=0
# INSERT-NEXT:     barrier
# INSERT-NEXT:     read %s[%i % 3]
# INSERT: @ring: 0 barriers inserted
# CLEAN: no race, no deadlock
