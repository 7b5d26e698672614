# A second barrier per iteration keeps the next write back.
# EXPECT: clean
kernel @next_iteration_fixed waves=4 {
  shared %a : 1024
  loop %i in 0..8 {
    write %a
    barrier
    read %a
    barrier
  }
}
