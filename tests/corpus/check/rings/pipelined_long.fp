# The last of forty iterations fills slot 0.
# EXPECT: race RAW 9 -> 11
kernel @pipelined_long waves=4 {
  shared %a : 2 x 512
  write %a[0]
  loop %i in 0..40 {
    barrier
    read %a[%i % 2]
    write %a[(%i + 1) % 2]
  }
  read %a[0]
}
