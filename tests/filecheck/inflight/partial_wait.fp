# A wait for part of what is in flight commits that part; what is left is waited for where it is read.
# RUN: fencepost insert %s --strategy minimize 2>&1 | filecheck %s --check-prefix=INSERT
# RUN: fencepost insert %s --strategy eager 2>&1 | filecheck %s --check-prefix=INSERT
# RUN: fencepost insert %s --strategy minimize | fencepost check - | filecheck %s --check-prefix=CLEAN
# RUN: fencepost insert %s --strategy eager | fencepost check - | filecheck %s --check-prefix=CLEAN
# RUN: fencepost insert %s --strategy walk | fencepost check - | filecheck %s --check-prefix=CLEAN
kernel @parts waves=4 {
  shared %a : 1024
  shared %b : 1024
  gather_to_lds %a
  gather_to_lds %b
  wait_count load=1
  read %a
  compute
  barrier
  read %b
}
# INSERT:        wait_count load=1
# INSERT-NEXT:   barrier  # copy → read %a
# INSERT-NEXT:   read %a
# INSERT-NEXT:   compute
# INSERT-NEXT:   barrier load=0
# INSERT-NEXT:   read %b
# INSERT: @parts: 1 barrier inserted
# CLEAN: no race, no deadlock
