# The same with a barrier.
# EXPECT: clean
kernel @then_read_fixed waves=4 {
  shared %a : 64
  atomic %a
  barrier
  read %a
}
