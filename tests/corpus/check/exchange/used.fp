# Whoever uses its result has read it; a rendezvous without a fence then is enough.
# EXPECT: clean
kernel @used waves=4 {
  shared %s : 512
  %x = exchange %s
  compute %x
  workgroup_barrier
  write %s
}
