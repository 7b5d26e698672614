# Without barriers and waits: one that waits, and none in front of the copy.
# RUN: fencepost insert %s --strategy minimize 2>&1 | filecheck %s --check-prefix=INSERT
# RUN: fencepost insert %s --strategy minimize | fencepost check - | filecheck %s --check-prefix=CLEAN
# RUN: fencepost insert %s --strategy eager | fencepost check - | filecheck %s --check-prefix=CLEAN
# RUN: fencepost insert %s --strategy walk | fencepost check - | filecheck %s --check-prefix=CLEAN
kernel @prefetch waves=4 {
  shared %a : 2 x 1024
  gather_to_lds %a[0]
  loop %i in 0..16 {
    read %a[%i % 2]
    gather_to_lds %a[(%i + 1) % 2]
  }
}
# INSERT:        loop %i in 0..16 {
# INSERT-NEXT:     barrier load=0  #
# INSERT-NEXT:     read %a[%i % 2]
# INSERT-NEXT:     gather_to_lds %a[(%i + 1) % 2]
# INSERT-NEXT:   }
# INSERT: @prefetch: 1 barrier inserted
# CLEAN: no race, no deadlock
