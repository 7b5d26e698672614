# The same raw barrier without the shift is fine: every wave uses its data before the second barrier.
# EXPECT: clean
kernel @raw_in_step waves=4 {
  shared %a : 1024
  loop %i in 0..3 {
    %x = read %a
    workgroup_barrier
    mma %x
    barrier
    write %a
    barrier
    compute
    barrier
  }
}
