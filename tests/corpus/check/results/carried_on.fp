# A conditional decides by how much the ring advances: one or two of three, never none.
# EXPECT: clean
kernel @carried_on waves=4 {
  shared %a : 3 x 64
  loop %i in 0..? carry %x = 0 {
    write %a[%x]
    barrier
    read %a[%x]
    if %skip gives %n {
      give 2
    } else {
      give 1
    }
    next (%x + %n) % 3
  }
}
