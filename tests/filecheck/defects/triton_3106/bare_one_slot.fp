# The same with one slot for %b: none may.
# RUN: fencepost insert %s --strategy minimize 2>&1 | filecheck %s --check-prefix=INSERT
# RUN: fencepost insert %s --strategy minimize | fencepost check - | filecheck %s --check-prefix=CLEAN
# RUN: fencepost insert %s --strategy eager | fencepost check - | filecheck %s --check-prefix=CLEAN
# RUN: fencepost insert %s --strategy walk | fencepost check - | filecheck %s --check-prefix=CLEAN
kernel @operands waves=4 {
  shared %a : 2 x 1024
  shared %b : 1024
  write %a[0]
  write %b
  loop %i in 0..16 {
    async_mma %a[%i % 2], %b
    write %a[(%i + 1) % 2]
    write %b
  }
}
# INSERT:        loop %i in 0..16 {
# INSERT-NEXT:     barrier  #
# INSERT-NEXT:     async_mma %a[%i % 2], %b
# INSERT-NEXT:     write %a[(%i + 1) % 2]
# INSERT-NEXT:     barrier mma=0  #
# INSERT-NEXT:     write %b
# INSERT-NEXT:   }
# INSERT: @operands: 2 barriers inserted
# CLEAN: no race, no deadlock
