# Whichever wave it is, it is one.
# EXPECT: race RAW 7 -> 8
kernel @by_number waves=4 {
  shared %a : 64
  param %n
  if wave == %n {
    gather_to_lds %a
    read %a
  }
}
