# Both sides meet at a barrier; in the second call the writers go on before the readers of the first are done.
# EXPECT: race WAR 10 -> 6
func @hand_over {
  shared %s : 64
  if wave < 2 {
    write %s[0..32]
    barrier
  } else {
    barrier
    read %s[0..32]
  }
}
kernel @balanced_inside waves=4 {
  call @hand_over
  call @hand_over
}
