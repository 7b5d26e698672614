# The write runs once, in the last iteration: there is no other instance for it to meet.
# EXPECT: clean
kernel @write_in_last_iteration waves=4 {
  shared %a : 64
  loop %i in 0..4 {
    if %i == 3 {
      write %a
    }
  }
}
