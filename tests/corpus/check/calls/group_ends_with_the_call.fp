# The members of a group are one act within one call; the second call is another.
# EXPECT: race WAW 6 -> 6
# EXPECT: race WAW 7 -> 6
func @tile {
  shared %s : 64
  write %s group=t
  write %s group=t
}
kernel @group_ends_with_the_call waves=4 {
  call @tile
  call @tile
}
