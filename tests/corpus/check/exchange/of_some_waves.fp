# Its barrier is one that only some waves meet.
# EXPECT: deadlock stuck 6
kernel @of_some_waves waves=4 {
  shared %s : 512
  if wave < 2 {
    exchange %s
  }
}
