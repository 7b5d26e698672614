# The sides of a divergent conditional are run by different waves, in no order.
# EXPECT: race RAW 6 -> 8
kernel @two_sides waves=4 {
  shared %a : 1024
  if wave < 2 {
    write %a
  } else {
    read %a
  }
}
