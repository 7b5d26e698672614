# The loop runs at least once, but only if the flag lets it.
# EXPECT: race RAW 5 -> 11
kernel @loop_in_one_side waves=4 {
  shared %a : 1024
  write %a
  if %c {
    loop %i in 0..4 {
      barrier
    }
  }
  read %a
}
