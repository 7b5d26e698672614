# A named barrier is another one: both may be open at once.
# EXPECT: clean
kernel @barrier_inside_named_pair waves=4 {
  shared %a : 1024
  write %a
  signal 1
  barrier
  wait 1
  read %a
}
