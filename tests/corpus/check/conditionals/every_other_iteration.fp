# A barrier every other iteration leaves every other pair without.
# EXPECT: race WAW 9 -> 9 next-iteration
kernel @every_other_iteration waves=4 {
  shared %a : 1024
  loop %i in 0..4 {
    if %i % 2 == 0 {
      barrier
    }
    write %a
  }
}
