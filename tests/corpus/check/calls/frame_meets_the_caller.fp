# The frame puts the function's buffer onto the caller's.
# EXPECT: race RAW 10 -> 5
func @reader {
  shared %s : 512 at 0
  read %s
}
kernel @frame_meets_the_caller waves=4 {
  shared %a : 512 at 1024
  shared %b : 512 at 0
  write %a
  call @reader at 1024
}
