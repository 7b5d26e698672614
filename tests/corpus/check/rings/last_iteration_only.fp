# Only the very last of many iterations comes back to slot 0.
# EXPECT: race WAW 5 -> 8
kernel @last_iteration_only waves=4 {
  shared %a : 2 x 64
  write %a[0]
  loop %i in 0..40 {
    if %i == 39 {
      write %a[(%i + 1) % 2]
    }
  }
}
