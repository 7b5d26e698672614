# The second pair goes round the loop: it is opened before and closed behind it.
# EXPECT: clean
kernel @two_pairs_in_a_loop waves=4 {
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
  wait 2
}
