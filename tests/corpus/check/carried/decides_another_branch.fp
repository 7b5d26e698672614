# Every fourth iteration would do for four slots, not for three.
# EXPECT: race WAW 9 -> 9 next-iteration
kernel @decides_another_branch waves=4 {
  shared %a : 3 x 512
  loop %i in 0..? carry %x = 0, %n = 0 {
    if %n == 0 {
      barrier
    }
    write %a[%x]
    next (%x + 1) % 3, (%n + 1) % 4
  }
}
