# What an iteration has read, the next one uses in front of its rendezvous.
# EXPECT: clean
kernel @carried waves=4 {
  shared %a : 64
  %z = read %a
  loop %i in 0..8 carry %p = %z {
    mma %p
    workgroup_barrier
    write %a
    barrier
    %y = read %a
    next %y
  }
}
