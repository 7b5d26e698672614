# The same with one wave in each half: wave 0 overwrites what wave 1 was to read first.
# EXPECT: wrong-order WAR 8 -> 9 waves 1,0
kernel @wrong_order_two_waves waves=2 {
  shared %a : 2 x 256
  if wave == 1 {
    barrier
  }
  read %a[1 - wave]
  write %a[wave]
  barrier
  if wave == 0 {
    barrier
  }
}
