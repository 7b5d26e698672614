# Chosen by the half of the loop, two neighbouring iterations share a slot.
# EXPECT: race WAR 8 -> 6 next-iteration
kernel @select_halves waves=4 {
  shared %a : 2 x 512
  loop %i in 0..6 {
    write %a[select(%i < 3, 0, 1)]
    barrier
    read %a[select(%i < 3, 0, 1)]
  }
}
