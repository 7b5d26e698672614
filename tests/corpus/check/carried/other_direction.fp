# Counting down works as well: remainders are never negative.
# EXPECT: clean
kernel @other_direction waves=4 {
  shared %a : 3 x 512
  loop %i in 0..? carry %x = 0 {
    write %a[%x]
    barrier
    read %a[%x]
    next (%x - 1) % 3
  }
}
