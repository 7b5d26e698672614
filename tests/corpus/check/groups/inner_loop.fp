# A member in a loop meets its own next instance.
# EXPECT: race WAW 7 -> 7 next-iteration
kernel @inner_loop waves=4 {
  shared %a : 64
  write %a group=tile
  loop %i in 0..2 {
    write %a group=tile
  }
}
