# Without the frame the two would meet.
# EXPECT: clean
func @reader {
  shared %s : 512 at 0
  read %s
}
kernel @frame_misses_the_caller waves=4 {
  shared %a : 512 at 0
  write %a
  call @reader at 512
}
