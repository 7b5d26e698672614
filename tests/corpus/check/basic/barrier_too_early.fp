# The barrier orders the first write only; the second comes after it.
# EXPECT: race RAW 8 -> 10
kernel @barrier_too_early waves=4 {
  shared %a : 1024
  shared %b : 1024
  write %a
  barrier
  write %b
  read %a
  read %b
}
