# A read that is not of the group stands between its members.
# EXPECT: race RAW 6 -> 7
# EXPECT: race WAR 7 -> 8
kernel @with_a_stranger waves=4 {
  shared %a : 1024
  write %a group=tile
  read %a
  write %a group=tile
}
