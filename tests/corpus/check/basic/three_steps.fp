# Read after write and write after read each need a barrier of their own; here the second one is missing.
# EXPECT: race WAR 7 -> 8
kernel @three_steps waves=4 {
  shared %a : 1024
  write %a
  barrier
  read %a
  write %a
}
