# A barrier between the calls.
# EXPECT: clean
func @hand_over {
  shared %s : 64
  if wave < 2 {
    write %s
    barrier
  } else {
    barrier
    read %s
  }
}
kernel @balanced_inside_fixed waves=4 {
  call @hand_over
  barrier
  call @hand_over
}
