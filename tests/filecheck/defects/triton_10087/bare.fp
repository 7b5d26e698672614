# Without barriers: one an iteration, for what meets in later iterations.
# RUN: fencepost insert %s --strategy minimize 2>&1 | filecheck %s --check-prefix=INSERT
# RUN: fencepost insert %s --strategy minimize | fencepost check - | filecheck %s --check-prefix=CLEAN
# RUN: fencepost insert %s --strategy eager | fencepost check - | filecheck %s --check-prefix=CLEAN
# RUN: fencepost insert %s --strategy walk | fencepost check - | filecheck %s --check-prefix=CLEAN
kernel @ring waves=4 {
  shared %a : 3 x 1024
  loop %p in 0..16 {
    write %a[(%p + 1) % 3]
    read %a[%p % 3]
  }
}
# INSERT:        loop %p in 0..16 {
# INSERT-NEXT:     write %a[(%p + 1) % 3]
# INSERT-NEXT:     barrier  #
# INSERT-NEXT:     read %a[%p % 3]
# INSERT-NEXT:   }
# INSERT: @ring: 1 barrier inserted
# CLEAN: no race, no deadlock
