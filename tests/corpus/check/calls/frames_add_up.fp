# A call within a call: 256 and 256 make 512, where the caller's buffer is.
# EXPECT: race RAW 14 -> 5
func @inner {
  shared %s : 256 at 0
  read %s
}
func @outer {
  shared %t : 256 at 0
  write %t
  call @inner at 256
}
kernel @frames_add_up waves=4 {
  shared %a : 256 at 512
  write %a
  call @outer at 256
}
