# The read has been issued, not completed.
# EXPECT: race WAR 5 -> 6
kernel @copy_overtakes_read waves=1 {
  shared %a : 1024
  %x = read %a
  gather_to_lds %a
  compute %x
}
