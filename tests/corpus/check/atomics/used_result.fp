# Additions commute, but what the first one gives back depends on whether the second has come.
# EXPECT: race RAW 5 -> 7
kernel @used_result waves=4 {
  shared %a : 64
  %old = atomic %a update=add
  compute %old
  atomic %a update=add
}
