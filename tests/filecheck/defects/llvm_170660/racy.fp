# Nine copies, of which the first is read: it must not be forgotten, however many follow.
# RUN: fencepost check %s
# EXIT: 1
# RUN: fencepost insert %s --strategy minimize 2>&1 | filecheck %s --check-prefix=INSERT
# RUN: fencepost insert %s --strategy minimize | fencepost check - | filecheck %s --check-prefix=CLEAN
# RUN: fencepost insert %s --strategy eager | fencepost check - | filecheck %s --check-prefix=CLEAN
# RUN: fencepost insert %s --strategy walk | fencepost check - | filecheck %s --check-prefix=CLEAN
kernel @ninth waves=4 {
  shared %s : 9 x 1024
  gather_to_lds %s[0]
  gather_to_lds %s[1]
  gather_to_lds %s[2]
  gather_to_lds %s[3]
  gather_to_lds %s[4]
  gather_to_lds %s[5]
  gather_to_lds %s[6]
  gather_to_lds %s[7]
  gather_to_lds %s[8]
  barrier
  read %s[0]
}
# CHECK: error[FP001]: wave 0 can read %s[0] while its own copy into it is under way
# CHECK-NEXT: --> racy.fp:10:3 and racy.fp:20:3
# CHECK: @ninth: 1 race
# INSERT:        gather_to_lds %s[8]
# INSERT-NEXT:   barrier load=8
# INSERT-NEXT:   read %s[0]
# INSERT-NEXT: }
# INSERT: @ninth: 0 barriers inserted
# CLEAN: no race, no deadlock
