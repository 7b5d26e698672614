# With five iterations the last one fills slot 1, and slot 0 lies before the last barrier: none is missing.
# EXPECT: clean
kernel @pipelined_odd_trip waves=4 {
  shared %a : 2 x 512
  write %a[0]
  loop %i in 0..5 {
    barrier
    read %a[%i % 2]
    write %a[(%i + 1) % 2]
  }
  read %a[0]
}
