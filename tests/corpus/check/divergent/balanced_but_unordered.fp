# The barriers meet, but both accesses come after them.
# EXPECT: race RAW 7 -> 10
kernel @balanced_but_unordered waves=4 {
  shared %a : 1024
  if wave < 2 {
    barrier
    write %a
  } else {
    barrier
    read %a
  }
}
