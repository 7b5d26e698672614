# The sum is read before every wave has added to it.
# EXPECT: race RAW 5 -> 6
kernel @then_read waves=4 {
  shared %a : 64
  atomic %a
  read %a
}
