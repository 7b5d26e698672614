# With 5 both are slot 1.
# EXPECT: race RAW 6 -> 7
kernel @selected_slots_that_meet waves=4 {
  shared %c : 3 x 64
  param %n
  write %c[select(%n < 5, 0, 1)]
  read %c[select(%n < 6, 1, 2)]
}
