# Without the last wait the second barrier is left signalled.
# EXPECT: deadlock left signalled 12
kernel @second_pair_not_closed waves=4 {
  shared %a : 1024
  signal 2
  loop %i in 0..4 {
    wait 2
    write %a
    signal 1
    wait 1
    read %a
    signal 2
  }
}
