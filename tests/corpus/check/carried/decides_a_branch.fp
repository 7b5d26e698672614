# There is a barrier in every third iteration, before the slot comes round again.
# EXPECT: clean
kernel @decides_a_branch waves=4 {
  shared %a : 3 x 512
  loop %i in 0..? carry %x = 0 {
    if %x == 0 {
      barrier
    }
    write %a[%x]
    next (%x + 1) % 3
  }
}
