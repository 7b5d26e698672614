# Waves go different ways, so the result is not known: any slot.
# EXPECT: race RAW 10 -> 11
kernel @differs_by_wave waves=4 {
  shared %a : 3 x 64
  if wave < 2 gives %n {
    give 0
  } else {
    give 1
  }
  write %a[%n]
  read %a[1]
}
