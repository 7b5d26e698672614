# The condition is known, so the result is.
# EXPECT: clean
kernel @known_side waves=4 {
  shared %a : 2 x 64
  loop %i in 0..4 {
    if %i < 4 gives %n {
      give 0
    } else {
      give 1
    }
    write %a[%n]
    read %a[1]
    barrier
  }
}
