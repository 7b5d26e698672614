# A single wave needs no barrier, but the wait all the same.
# RUN: fencepost check %s
# EXIT: 1
# RUN: fencepost insert %s --strategy minimize 2>&1 | filecheck %s --check-prefix=INSERT
# RUN: fencepost insert %s --strategy minimize | fencepost check - | filecheck %s --check-prefix=CLEAN
# RUN: fencepost insert %s --strategy eager | fencepost check - | filecheck %s --check-prefix=CLEAN
# RUN: fencepost insert %s --strategy walk | fencepost check - | filecheck %s --check-prefix=CLEAN
kernel @ninth waves=1 {
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
  read %s[0]
}
# CHECK: error[FP001]: wave 0 can read %s[0] while its own copy into it is under way
# CHECK-NEXT: --> one_wave.fp:10:3 and one_wave.fp:19:3
# CHECK: @ninth: 1 race
# INSERT:        gather_to_lds %s[8]
# INSERT-NEXT:   wait_count load=8  # copy → read %s
# INSERT-NEXT:   read %s[0]
# INSERT-NEXT: }
# INSERT: @ninth: 1 barrier or wait inserted
# CLEAN: no race, no deadlock
