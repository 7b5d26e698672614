# Both operands have two slots.
# RUN: fencepost check %s
# RUN: fencepost insert %s 2>&1 | filecheck %s --check-prefix=SAME
kernel @operands waves=4 {
  shared %a : 2 x 1024
  shared %b : 2 x 1024
  write %a[0]
  write %b[0]
  loop %i in 0..16 {
    barrier
    async_mma %a[%i % 2], %b[%i % 2]
    wait_count mma=1
    barrier
    write %a[(%i + 1) % 2]
    write %b[(%i + 1) % 2]
  }
}
# CHECK: @operands: no race, no deadlock
# SAME: @operands: 0 barriers inserted
