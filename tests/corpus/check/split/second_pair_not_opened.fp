# Without the first signal the first iteration waits for ever.
# EXPECT: deadlock wait without signal 6
kernel @second_pair_not_opened waves=4 {
  shared %a : 1024
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
