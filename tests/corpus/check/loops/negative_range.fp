# Counting up from 3 to 1 runs zero times.
# EXPECT: race RAW 5 -> 9
kernel @negative_range waves=4 {
  shared %a : 1024
  write %a
  loop %i in 3..1 {
    barrier
  }
  read %a
}
