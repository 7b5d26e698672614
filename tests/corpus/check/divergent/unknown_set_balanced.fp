# Whichever waves take which side: the reads come before the barrier, the writes behind it.
# EXPECT: clean
kernel @unknown_set_balanced waves=4 {
  shared %a : 64
  if wave < ? {
    barrier
    write %a
  } else {
    read %a
    barrier
  }
}
