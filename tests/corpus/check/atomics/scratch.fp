# An atomic that works through scratch memory has a barrier between its write and its read, none before.
# EXPECT: race WAR 8 -> 10
# EXPECT: race WAR 12 -> 10 next-iteration
kernel @scratch waves=4 {
  shared %s : 64
  write %s
  barrier
  read %s
  loop %i in 0..2 {
    write %s
    barrier
    read %s
  }
}
