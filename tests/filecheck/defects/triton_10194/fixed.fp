# The old order, for which the counts are right.
# RUN: fencepost check %s
# RUN: fencepost insert %s 2>&1 | filecheck %s --check-prefix=SAME
kernel @in_order waves=4 {
  shared %a : 2 x 1024
  shared %b : 2 x 1024
  gather_to_lds %a[0]
  gather_to_lds %b[0]
  loop %i in 0..16 {
    wait_count load=1
    barrier
    %x = read %a[%i % 2]
    gather_to_lds %a[(%i + 1) % 2]
    wait_count load=1
    barrier
    %y = read %b[%i % 2]
    gather_to_lds %b[(%i + 1) % 2]
    mma %x, %y
  }
}
# CHECK: @in_order: no race, no deadlock
# SAME: @in_order: 0 barriers inserted
