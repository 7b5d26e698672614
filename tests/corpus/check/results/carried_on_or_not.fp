# On one side it does not advance.
# EXPECT: race WAR 8 -> 6 next-iteration
kernel @carried_on_or_not waves=4 {
  shared %a : 3 x 64
  loop %i in 0..? carry %x = 0 {
    write %a[%x]
    barrier
    read %a[%x]
    if %stay gives %n {
      give 0
    } else {
      give 1
    }
    next (%x + %n) % 3
  }
}
