# An atomic has written, too: its result says nothing about that.
# EXPECT: race RAW 5 -> 8
kernel @update waves=4 {
  shared %a : 64
  %x = atomic %a
  compute %x
  workgroup_barrier
  read %a
}
