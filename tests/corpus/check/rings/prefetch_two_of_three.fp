# Writing two slots ahead in a ring of three hits the slot that was read just before.
# EXPECT: race WAR 8 -> 6 next-iteration
kernel @prefetch_two_of_three waves=4 {
  shared %a : 3 x 512
  loop %i in 0..9 {
    write %a[(%i + 2) % 3]
    barrier
    read %a[%i % 3]
  }
}
