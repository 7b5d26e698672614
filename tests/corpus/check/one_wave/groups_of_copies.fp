# The same group by group.
# EXPECT: race RAW 8 -> 12
# EXPECT: race RAW 10 -> 13
kernel @groups_of_copies waves=4 {
  shared %a : 64
  shared %b : 64
  if wave == 1 {
    gather_to_lds %a
    commit load
    gather_to_lds %b
    commit load
    read %a
    read %b
  }
}
