# What counts on the same counter and touches no shared memory counts all the same.
# RUN: fencepost insert %s --strategy minimize 2>&1 | filecheck %s --check-prefix=INSERT
# RUN: fencepost insert %s --strategy eager 2>&1 | filecheck %s --check-prefix=INSERT
# RUN: fencepost insert %s --strategy minimize | fencepost check - | filecheck %s --check-prefix=CLEAN
# RUN: fencepost insert %s --strategy eager | fencepost check - | filecheck %s --check-prefix=CLEAN
# RUN: fencepost insert %s --strategy walk | fencepost check - | filecheck %s --check-prefix=CLEAN
kernel @counted waves=4 {
  shared %a : 1024
  gather_to_lds %a
  %x = global_read
  %y = global_read
  read %a, %x, %y
}
# INSERT:        %y = global_read
# INSERT-NEXT:   barrier load=2  # copy → read %a
# INSERT-NEXT:   read %a, %x, %y
# INSERT: @counted: 1 barrier inserted
# CLEAN: no race, no deadlock
