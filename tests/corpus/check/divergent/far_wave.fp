# Of 64 waves, only wave 37 reads a slot that is not its own.
# EXPECT: race RAW 5 -> 7 waves 5,37
kernel @far_wave waves=64 {
  shared %a : 64 x 16
  write %a[wave]
  if wave == 37 {
    read %a[5]
  }
}
