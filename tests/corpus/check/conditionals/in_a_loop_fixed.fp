# With a barrier on the other side as well, no path round the loop is without one.
# EXPECT: clean
kernel @in_a_loop_fixed waves=4 {
  shared %a : 1024
  loop %i in 0..4 {
    write %a
    barrier
    read %a
    if %c {
      barrier
    } else {
      compute
      barrier
    }
  }
}
