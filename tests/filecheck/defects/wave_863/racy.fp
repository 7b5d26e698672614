# A barrier does not wait for an engine: one that stands there covers no copy that nobody has waited for.
# RUN: fencepost check %s
# EXIT: 1
# RUN: fencepost insert %s --strategy minimize 2>&1 | filecheck %s --check-prefix=INSERT
# RUN: fencepost insert %s --strategy minimize | fencepost check - | filecheck %s --check-prefix=CLEAN
# RUN: fencepost insert %s --strategy eager | fencepost check - | filecheck %s --check-prefix=CLEAN
# RUN: fencepost insert %s --strategy walk | fencepost check - | filecheck %s --check-prefix=CLEAN
kernel @trusted waves=4 {
  shared %a : 1024
  gather_to_lds %a
  barrier
  read %a
}
# CHECK: error[FP001]: wave 0 can read %a while its own copy into it is under way
# CHECK-NEXT: --> racy.fp:10:3 and racy.fp:12:3
# CHECK: = why: nothing waits for the copy: no wait for counter 'load' lies in between
# CHECK: @trusted: 1 race
# INSERT:        gather_to_lds %a
# INSERT-NEXT:   barrier load=0
# INSERT-NEXT:   read %a
# INSERT-NEXT: }
# INSERT: @trusted: 0 barriers inserted
# CLEAN: no race, no deadlock
