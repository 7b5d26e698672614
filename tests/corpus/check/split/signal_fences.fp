# The signal has fenced the write; any rendezvous after it hands that on.
# EXPECT: clean
kernel @signal_fences waves=4 {
  shared %a : 64
  write %a
  signal 1
  workgroup_barrier
  read %a
  wait 1
}
