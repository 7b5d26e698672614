# The same counts without the shift: the copy that may be under way is read an iteration later.
# RUN: fencepost check %s
# RUN: fencepost insert %s 2>&1 | filecheck %s --check-prefix=SAME
kernel @staggered waves=8 {
  shared %s : 4 x 1024
  gather_to_lds %s[0]
  gather_to_lds %s[1]
  wait_count load=0
  barrier
  loop %i in 0..16 {
    %x = read %s[%i % 4]
    gather_to_lds %s[(%i + 2) % 4]
    barrier
    mma %x
    wait_count load=1
    barrier
  }
}
# CHECK: @staggered: no race, no deadlock
# SAME: @staggered: 0 barriers inserted
