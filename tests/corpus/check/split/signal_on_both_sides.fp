# On both sides there is a signal.
# EXPECT: clean
kernel @signal_on_both_sides waves=4 {
  shared %a : 1024
  if %c {
    write %a
    signal 1
  } else {
    signal 1
  }
  wait 1
  read %a
}
