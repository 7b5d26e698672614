# Three of four paths have a barrier.
# EXPECT: race RAW 5 -> 15
kernel @nested waves=4 {
  shared %a : 1024
  write %a
  if %c {
    if %d {
      barrier
    } else {
      compute
    }
  } else {
    barrier
  }
  read %a
}
