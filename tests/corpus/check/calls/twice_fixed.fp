# One more barrier inside the function, and it can be called again.
# EXPECT: clean
func @stage {
  shared %s : 512
  write %s
  barrier
  read %s
  barrier
}
kernel @twice_fixed waves=4 {
  call @stage
  call @stage
}
