# Both operands with two slots, without barriers and waits: one multiplication may stay pending.
# RUN: fencepost insert %s --strategy minimize 2>&1 | filecheck %s --check-prefix=INSERT
# RUN: fencepost insert %s --strategy minimize | fencepost check - | filecheck %s --check-prefix=CLEAN
# RUN: fencepost insert %s --strategy eager | fencepost check - | filecheck %s --check-prefix=CLEAN
# RUN: fencepost insert %s --strategy walk | fencepost check - | filecheck %s --check-prefix=CLEAN
kernel @operands waves=4 {
  shared %a : 2 x 1024
  shared %b : 2 x 1024
  write %a[0]
  write %b[0]
  loop %i in 0..16 {
    async_mma %a[%i % 2], %b[%i % 2]
    write %a[(%i + 1) % 2]
    write %b[(%i + 1) % 2]
  }
}
# INSERT:        loop %i in 0..16 {
# INSERT-NEXT:     barrier  #
# INSERT-NEXT:     async_mma %a[%i % 2], %b[%i % 2]
# INSERT-NEXT:     barrier mma=1  #
# INSERT-NEXT:     write %a[(%i + 1) % 2]
# INSERT-NEXT:     write %b[(%i + 1) % 2]
# INSERT-NEXT:   }
# INSERT: @operands: 2 barriers inserted
# CLEAN: no race, no deadlock
