# The same barrier, waiting.
# RUN: fencepost check %s
# RUN: fencepost insert %s 2>&1 | filecheck %s --check-prefix=SAME
kernel @trusted waves=4 {
  shared %a : 1024
  gather_to_lds %a
  barrier load=0
  read %a
}
# CHECK: @trusted: no race, no deadlock
# SAME: @trusted: 0 barriers inserted
