# The new order without barriers and waits: one barrier an iteration, with the count that fits.
# RUN: fencepost insert %s --strategy minimize 2>&1 | filecheck %s --check-prefix=INSERT
# RUN: fencepost insert %s --strategy minimize | fencepost check - | filecheck %s --check-prefix=CLEAN
# RUN: fencepost insert %s --strategy eager | fencepost check - | filecheck %s --check-prefix=CLEAN
# RUN: fencepost insert %s --strategy walk | fencepost check - | filecheck %s --check-prefix=CLEAN
kernel @reordered waves=4 {
  shared %a : 2 x 1024
  shared %b : 2 x 1024
  gather_to_lds %a[0]
  gather_to_lds %b[0]
  loop %i in 0..16 {
    %x = read %a[%i % 2]
    %y = read %b[%i % 2]
    mma %x, %y
    gather_to_lds %b[(%i + 1) % 2]
    gather_to_lds %a[(%i + 1) % 2]
  }
}
# INSERT:        loop %i in 0..16 {
# INSERT-NEXT:     barrier load=0  #
# INSERT-NEXT:     %x = read %a[%i % 2]
# INSERT-NEXT:     %y = read %b[%i % 2]
# INSERT-NEXT:     mma %x, %y
# INSERT-NEXT:     gather_to_lds %b[(%i + 1) % 2]
# INSERT-NEXT:     gather_to_lds %a[(%i + 1) % 2]
# INSERT-NEXT:   }
# INSERT: @reordered: 1 barrier inserted
# CLEAN: no race, no deadlock
