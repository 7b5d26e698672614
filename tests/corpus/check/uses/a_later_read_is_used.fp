# Reads return in order: the first one is complete with the second.
# EXPECT: clean
kernel @a_later_read_is_used waves=4 {
  shared %a : 64
  shared %b : 64
  %x = read %a
  %y = read %b
  mma %y
  workgroup_barrier
  write %a
}
