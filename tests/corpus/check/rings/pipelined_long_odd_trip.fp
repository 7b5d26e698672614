# The last of forty-one fills slot 1.
# EXPECT: clean
kernel @pipelined_long_odd_trip waves=4 {
  shared %a : 2 x 512
  write %a[0]
  loop %i in 0..41 {
    barrier
    read %a[%i % 2]
    write %a[(%i + 1) % 2]
  }
  read %a[0]
}
