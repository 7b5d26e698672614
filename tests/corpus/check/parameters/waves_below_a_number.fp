# No wave is below a number that is zero or less.
# EXPECT: clean
kernel @waves_below_a_number waves=4 {
  shared %a : 64
  param %n
  if wave < %n {
    write %a
  }
  if %n <= 0 {
    read %a
  }
}
