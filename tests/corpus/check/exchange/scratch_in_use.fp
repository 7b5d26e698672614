# Its scratch memory is still being read, and its own result is still being read afterwards.
# EXPECT: race WAR 7 -> 8
# EXPECT: race WAR 8 -> 9
kernel @scratch_in_use waves=4 {
  shared %s : 512 at 0
  shared %a : 512 at 256
  read %a
  exchange %s
  write %a
}
