# A remainder by zero is no number, so no slot is safe.
# EXPECT: race RAW 6 -> 7
kernel @divided_by_zero waves=4 {
  shared %a : 2 x 64
  loop %i in 0..4 {
    write %a[%i % 0]
    read %a[1]
    barrier
  }
}
