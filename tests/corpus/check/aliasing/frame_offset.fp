# A callee's scratch stands at an offset in the caller's frame and lies in the middle of its buffer.
# EXPECT: race WAW 6 -> 7
kernel @frame_offset waves=4 {
  shared %big : 256 at 0
  shared %f.scratch : 64 at 128
  write %big
  write %f.scratch
  barrier
  read %f.scratch
}
