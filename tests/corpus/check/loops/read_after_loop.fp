# The barrier stands before each write: nothing orders the last write and the read behind the loop.
# EXPECT: race RAW 7 -> 9
kernel @read_after_loop waves=4 {
  shared %a : 1024
  loop %i in 0..4 {
    barrier
    write %a
  }
  read %a
}
