# The second frame begins in the middle of the first.
# EXPECT: race WAW 5 -> 5
func @stage {
  shared %s : 512 at 0
  write %s
}
kernel @frames_overlap waves=4 {
  call @stage at 0
  call @stage at 256
}
