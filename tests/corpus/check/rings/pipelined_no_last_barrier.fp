# The last of four iterations fills slot 0, which the epilogue reads at once.
# EXPECT: race RAW 9 -> 11
kernel @pipelined_no_last_barrier waves=4 {
  shared %a : 2 x 512
  write %a[0]
  loop %i in 0..4 {
    barrier
    read %a[%i % 2]
    write %a[(%i + 1) % 2]
  }
  read %a[0]
}
