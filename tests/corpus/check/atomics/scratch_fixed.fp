# A barrier before each use of the scratch memory.
# EXPECT: clean
kernel @scratch_fixed waves=4 {
  shared %s : 64
  write %s
  barrier
  read %s
  loop %i in 0..2 {
    barrier
    write %s
    barrier
    read %s
  }
}
