# The fourth iteration uses a slot that does not exist.
# EXPECT: out-of-range 6
kernel @slot_past_the_end waves=4 {
  shared %a : 3 x 64
  loop %i in 0..4 {
    write %a[%i]
  }
}
