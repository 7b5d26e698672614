# A ring of five in a loop of unknown length.
# EXPECT: race WAW 6 -> 6 next-iteration
kernel @unknown_trip waves=4 {
  shared %a : 5 x 64
  loop %i in 0..? {
    write %a[%i % 5]
  }
}
