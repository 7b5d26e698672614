# What was read an iteration ago is used now, so it has arrived; a rendezvous without a fence is enough.
# EXPECT: clean
kernel @value waves=4 {
  shared %a : 512
  %first = read %a
  loop %i in 0..8 carry %v = %first {
    compute %v
    workgroup_barrier
    write %a
    barrier
    %x = read %a
    next %x
  }
}
