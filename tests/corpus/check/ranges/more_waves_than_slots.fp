# Waves 2 and 3 have no slot.
# EXPECT: out-of-range 5
kernel @more_waves_than_slots waves=4 {
  shared %a : 2 x 64
  write %a[wave]
}
