# The same wave in two conditionals is still the same wave.
# EXPECT: clean
kernel @one_wave_twice waves=4 {
  shared %a : 1024
  if wave == 0 {
    write %a
  }
  if wave == 0 {
    read %a
  }
}
