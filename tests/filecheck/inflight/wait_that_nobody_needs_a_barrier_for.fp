# What a wave has copied for itself alone it needs to wait for, and to meet nobody.
# RUN: fencepost insert %s --strategy minimize 2>&1 | filecheck %s --check-prefix=INSERT
# RUN: fencepost insert %s --strategy eager 2>&1 | filecheck %s --check-prefix=INSERT
# RUN: fencepost insert %s --strategy minimize | fencepost check - | filecheck %s --check-prefix=CLEAN
# RUN: fencepost insert %s --strategy eager | fencepost check - | filecheck %s --check-prefix=CLEAN
# RUN: fencepost insert %s --strategy walk | fencepost check - | filecheck %s --check-prefix=CLEAN
kernel @own waves=4 {
  shared %a : 4 x 1024
  gather_to_lds %a[wave]
  read %a[wave]
}
# INSERT:        gather_to_lds %a[wave]
# INSERT-NEXT:   wait_count load=0  # copy → read %a
# INSERT-NEXT:   read %a[wave]
# INSERT: @own: 1 barrier or wait inserted
# CLEAN: no race, no deadlock
