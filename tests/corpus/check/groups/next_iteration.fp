# The group of the next iteration is another instance.
# EXPECT: race WAW 7 -> 7 next-iteration
# EXPECT: race WAW 8 -> 7 next-iteration
kernel @next_iteration waves=4 {
  shared %a : 1024
  loop %i in 0..4 {
    write %a group=tile
    write %a group=tile
  }
}
