# Without barriers: none goes in.
# RUN: fencepost check %s
# RUN: fencepost insert %s 2>&1 | filecheck %s --check-prefix=SAME
kernel @copies waves=4 {
  shared %a : 4 x 1024
  loop %i in 0..16 {
    gather_to_lds %a[%i % 4]
    gather_to_lds %a[?]
  }
}
# CHECK: @copies: no race, no deadlock
# SAME: @copies: 0 barriers inserted
