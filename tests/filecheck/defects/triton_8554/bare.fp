# Three slots without barriers and waits: every multiplication has to be waited for.
# RUN: fencepost insert %s --strategy minimize 2>&1 | filecheck %s --check-prefix=INSERT
# RUN: fencepost insert %s --strategy minimize | fencepost check - | filecheck %s --check-prefix=CLEAN
# RUN: fencepost insert %s --strategy eager | fencepost check - | filecheck %s --check-prefix=CLEAN
# RUN: fencepost insert %s --strategy walk | fencepost check - | filecheck %s --check-prefix=CLEAN
kernel @ring waves=4 {
  shared %s : 3 x 1024
  gather_to_lds %s[0]
  gather_to_lds %s[1]
  loop %i in 0..16 {
    gather_to_lds %s[(%i + 2) % 3]
    async_mma %s[%i % 3]
  }
}
# INSERT:        loop %i in 0..16 {
# INSERT-NEXT:     barrier load=1 mma=0  #
# INSERT-NEXT:     gather_to_lds %s[(%i + 2) % 3]
# INSERT-NEXT:     async_mma %s[%i % 3]
# INSERT-NEXT:   }
# INSERT: @ring: 1 barrier inserted
# CLEAN: no race, no deadlock
