# Memory that is reused once its first owner is done: the reads of that owner may not be.
# EXPECT: race WAR 8 -> 9
kernel @reuse_after_last_read waves=4 {
  shared %a : 1024 at 0
  shared %b : 512 at 256
  write %a
  barrier
  read %a
  write %b
  barrier
  read %b
}
