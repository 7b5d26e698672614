# One tile operation, part of it done by each half of the waves.
# EXPECT: clean
kernel @two_sides waves=4 {
  shared %a : 64
  if wave < 2 {
    write %a group=tile
  } else {
    write %a group=tile
  }
}
