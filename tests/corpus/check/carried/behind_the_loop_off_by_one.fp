# One less is the slot that was written last.
# EXPECT: race RAW 7 -> 10
kernel @behind_the_loop_off_by_one waves=4 {
  shared %a : 3 x 512
  loop %i in 0..5 carry %x = 0 {
    barrier
    write %a[%x]
    next (%x + 1) % 3
  }
  read %a[(%x + 2) % 3]
}
