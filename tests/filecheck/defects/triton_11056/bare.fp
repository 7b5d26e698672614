# Without barriers and waits: each of the two engines is waited for where the other one follows.
# RUN: fencepost insert %s --strategy minimize 2>&1 | filecheck %s --check-prefix=INSERT
# RUN: fencepost insert %s --strategy minimize | fencepost check - | filecheck %s --check-prefix=CLEAN
# RUN: fencepost insert %s --strategy eager | fencepost check - | filecheck %s --check-prefix=CLEAN
# RUN: fencepost insert %s --strategy walk | fencepost check - | filecheck %s --check-prefix=CLEAN
kernel @groups waves=8 {
  shared %a : 4096
  shared %b : 4096
  gather_to_lds %a
  loop %i in 0..8 {
    async_mma %a, %b
    gather_to_lds %a
  }
}
# INSERT:        loop %i in 0..8 {
# INSERT-NEXT:     barrier load=0  #
# INSERT-NEXT:     async_mma %a, %b
# INSERT-NEXT:     barrier mma=0  #
# INSERT-NEXT:     gather_to_lds %a
# INSERT-NEXT:   }
# INSERT: @groups: 2 barriers inserted
# CLEAN: no race, no deadlock
