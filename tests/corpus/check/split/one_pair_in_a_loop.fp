# One pair orders write and read; the next write needs another.
# EXPECT: race WAR 9 -> 6 next-iteration
kernel @one_pair_in_a_loop waves=4 {
  shared %a : 1024
  loop %i in 0..4 {
    write %a
    signal 1
    wait 1
    read %a
  }
}
