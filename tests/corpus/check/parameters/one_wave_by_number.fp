# Whichever wave it is, it is one: it knows what it wrote.
# EXPECT: clean
kernel @one_wave_by_number waves=4 {
  shared %a : 64
  param %n
  if wave == %n {
    write %a
    read %a
  }
}
