# A barrier behind the read comes too late for it.
# EXPECT: race RAW 5 -> 6
kernel @barrier_too_late waves=4 {
  shared %a : 1024
  write %a
  read %a
  barrier
}
