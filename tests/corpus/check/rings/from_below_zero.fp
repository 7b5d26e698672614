# Remainders of negative numbers are not negative: the ring goes on below zero.
# EXPECT: race WAR 8 -> 6 next-iteration
kernel @from_below_zero waves=4 {
  shared %a : 3 x 64
  loop %i in -40..40 {
    write %a[(%i + 2) % 3]
    barrier
    read %a[%i % 3]
  }
}
