# The reads are not fenced, so another wave's copy may overtake them.
# EXPECT: race WAR 5 -> 7
kernel @copy_overtakes_read_at_raw_barrier waves=4 {
  shared %a : 1024
  read %a
  workgroup_barrier
  gather_to_lds %a
}
