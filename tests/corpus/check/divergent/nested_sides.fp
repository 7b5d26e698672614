# Of the lower half, wave 0 writes and wave 1 reads.
# EXPECT: race RAW 7 -> 9 waves 0,1
kernel @nested_sides waves=4 {
  shared %a : 1024
  if wave < 2 {
    if wave < 1 {
      write %a
    } else {
      read %a
    }
  }
}
