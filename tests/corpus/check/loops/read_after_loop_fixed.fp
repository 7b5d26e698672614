# A barrier behind the loop runs once and is enough.
# EXPECT: clean
kernel @read_after_loop_fixed waves=4 {
  shared %a : 1024
  loop %i in 0..4 {
    barrier
    write %a
  }
  barrier
  read %a
}
