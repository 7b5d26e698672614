# Two writes that a compiler made of one tile write: parts of one act.
# EXPECT: clean
kernel @one_tile waves=4 {
  shared %a : 1024
  write %a group=tile
  write %a group=tile
  barrier
  read %a
}
