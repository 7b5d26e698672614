# Waits without barriers: one barrier goes in, behind both.
# RUN: fencepost insert %s --strategy minimize 2>&1 | filecheck %s --check-prefix=INSERT
# RUN: fencepost insert %s --strategy eager 2>&1 | filecheck %s --check-prefix=INSERT
# RUN: fencepost insert %s --strategy minimize | fencepost check - | filecheck %s --check-prefix=CLEAN
# RUN: fencepost insert %s --strategy eager | fencepost check - | filecheck %s --check-prefix=CLEAN
# RUN: fencepost insert %s --strategy walk | fencepost check - | filecheck %s --check-prefix=CLEAN
kernel @two_waits waves=4 {
  shared %a : 1024
  shared %b : 1024
  gather_to_lds %a
  tensor_load_to_lds %b
  wait_count load=0
  wait_count tensor=0
  read %a
  read %b
}
# INSERT:        wait_count load=0
# INSERT-NEXT:   wait_count tensor=0
# INSERT-NEXT:   barrier  #
# INSERT-NEXT:   read %a
# INSERT-NEXT:   read %b
# INSERT: @two_waits: 1 barrier inserted
# CLEAN: no race, no deadlock
