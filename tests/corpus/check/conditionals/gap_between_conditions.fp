# One off again: for %i == 2 both fail.
# EXPECT: race RAW 6 -> 13
kernel @gap_between_conditions waves=4 {
  shared %a : 1024
  loop %i in 0..4 {
    write %a
    if %i < 2 {
      barrier
    }
    if %i > 2 {
      barrier
    }
    read %a
    barrier
  }
}
