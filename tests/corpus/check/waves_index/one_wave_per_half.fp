# With two waves the halves are single waves.
# EXPECT: clean
kernel @one_wave_per_half waves=2 {
  shared %a : 2 x 256
  write %a[select(wave < 1, 0, 1)]
  read %a[select(wave < 1, 0, 1)]
}
