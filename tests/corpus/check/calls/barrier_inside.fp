# A barrier inside a function orders what the caller does around the call.
# EXPECT: clean
func @meet {
  barrier
}
kernel @barrier_inside waves=4 {
  shared %a : 512
  write %a
  call @meet
  read %a
}
