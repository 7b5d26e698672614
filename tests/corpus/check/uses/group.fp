# Two reads that are one act, then two writes that are one.
# EXPECT: clean
kernel @group waves=4 {
  shared %a : 64
  %x = read %a group=tile
  %y = read %a group=tile
  compute %y
  workgroup_barrier
  write %a group=next
  write %a group=next
}
