# The third iteration comes back to the first slot.
# EXPECT: race WAW 6 -> 6 next-iteration
kernel @one_trip_too_many waves=4 {
  shared %a : 2 x 512
  loop %i in 0..3 {
    write %a[%i % 2]
  }
}
