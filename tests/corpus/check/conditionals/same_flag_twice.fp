# A flag is unknown each time it is met: that the barrier was skipped says nothing about the read.
# EXPECT: race RAW 5 -> 10
kernel @same_flag_twice waves=4 {
  shared %a : 1024
  write %a
  if %c {
    barrier
  }
  if %c {
    read %a
  }
}
