# Without a use nothing says that the read inside has arrived.
# EXPECT: race WAR 5 -> 7
kernel @not_used waves=4 {
  shared %s : 512
  %x = exchange %s
  workgroup_barrier
  write %s
}
