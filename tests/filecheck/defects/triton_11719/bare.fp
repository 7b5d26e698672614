# Without barriers and waits: two barriers an iteration, of which one waits.
# RUN: fencepost insert %s --strategy minimize 2>&1 | filecheck %s --check-prefix=INSERT
# RUN: fencepost insert %s --strategy minimize | fencepost check - | filecheck %s --check-prefix=CLEAN
# RUN: fencepost insert %s --strategy eager | fencepost check - | filecheck %s --check-prefix=CLEAN
# RUN: fencepost insert %s --strategy walk | fencepost check - | filecheck %s --check-prefix=CLEAN
kernel @refill waves=4 {
  shared %a : 1024
  gather_to_lds %a
  loop %i in 0..8 {
    %x = read %a
    gather_to_lds %a
    mma %x
  }
}
# INSERT:        gather_to_lds %a
# INSERT-NEXT:   loop %i in 0..8 {
# INSERT-NEXT:     barrier load=0  #
# INSERT-NEXT:     %x = read %a
# INSERT-NEXT:     barrier  # read → copy %a
# INSERT-NEXT:     gather_to_lds %a
# INSERT-NEXT:     mma %x
# INSERT-NEXT:   }
# INSERT: @refill: 2 barriers inserted
# CLEAN: no race, no deadlock
