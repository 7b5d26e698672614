# Rows that do not touch: every (i, j) has a slot of its own.
# EXPECT: clean
kernel @two_loop_variables_fixed waves=4 {
  shared %a : 6 x 64
  loop %i in 0..3 {
    loop %j in 0..2 {
      write %a[2 * %i + %j]
    }
  }
}
