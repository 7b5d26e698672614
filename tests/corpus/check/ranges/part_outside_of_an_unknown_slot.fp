# No slot has these bytes.
# EXPECT: out-of-range 6
kernel @part_outside_of_an_unknown_slot waves=4 {
  shared %s : 3 x 64
  loop %i in 0..2 {
    read %s[?][%i * 48..%i * 48 + 32]
  }
}
