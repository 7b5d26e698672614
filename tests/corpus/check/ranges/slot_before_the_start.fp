# The first iteration looks back to a slot before the first.
# EXPECT: out-of-range 6
kernel @slot_before_the_start waves=4 {
  shared %a : 3 x 64
  loop %i in 0..3 {
    read %a[%i - 1]
  }
}
