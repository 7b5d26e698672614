# Wave 3 is one that writes, and all waves read.
# EXPECT: race RAW 7 -> 10
kernel @one_wave_and_the_others waves=4 {
  shared %a : 64
  param %n
  if wave == %n {
    write %a
  }
  if %n > 2 {
    read %a
  }
}
