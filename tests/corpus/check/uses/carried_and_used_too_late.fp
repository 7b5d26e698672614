# The next iteration uses it behind its rendezvous.
# EXPECT: race WAR 6 -> 9
# EXPECT: race WAR 11 -> 9 next-iteration
kernel @carried_and_used_too_late waves=4 {
  shared %a : 64
  %z = read %a
  loop %i in 0..8 carry %p = %z {
    workgroup_barrier
    write %a
    barrier
    %y = read %a
    mma %p
    next %y
  }
}
