# The next iteration writes while slow waves still read the last one.
# EXPECT: race WAR 8 -> 6 next-iteration
kernel @next_iteration_overwrites waves=4 {
  shared %a : 1024
  loop %i in 0..8 {
    write %a
    barrier
    read %a
  }
}
