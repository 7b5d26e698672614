# Each function has an %s of its own; without an address they share nothing.
# EXPECT: clean
func @one {
  shared %s : 512
  write %s
}
func @other {
  shared %s : 512
  read %s
}
kernel @same_name waves=4 {
  shared %s : 512
  call @one
  call @other
  write %s
}
