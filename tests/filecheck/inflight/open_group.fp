# A copy that is in no closed group: no count waits for it, so everything is drained.
# RUN: fencepost insert %s --strategy minimize 2>&1 | filecheck %s --check-prefix=INSERT
# RUN: fencepost insert %s --strategy eager 2>&1 | filecheck %s --check-prefix=INSERT
# RUN: fencepost insert %s --strategy minimize | fencepost check - | filecheck %s --check-prefix=CLEAN
# RUN: fencepost insert %s --strategy eager | fencepost check - | filecheck %s --check-prefix=CLEAN
# RUN: fencepost insert %s --strategy walk | fencepost check - | filecheck %s --check-prefix=CLEAN
kernel @open waves=4 {
  shared %a : 1024
  shared %b : 1024
  gather_to_lds %a
  commit load
  gather_to_lds %b
  read %b
}
# INSERT:        gather_to_lds %b
# INSERT-NEXT:   barrier async  # copy → read %b
# INSERT-NEXT:   read %b
# INSERT: @open: 1 barrier inserted
# CLEAN: no race, no deadlock
