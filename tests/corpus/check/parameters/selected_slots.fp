# A slot that a comparison selects.
# EXPECT: clean
kernel @selected_slots waves=4 {
  shared %c : 3 x 64
  param %n
  write %c[select(%n < 5, 0, 1)]
  read %c[select(%n < 5, 1, 2)]
}
