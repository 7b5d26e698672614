# A loop that never runs does nothing wrong.
# EXPECT: clean
kernel @zero_trip_body waves=4 {
  shared %a : 1024
  loop %i in 0..0 {
    write %a
    read %a
  }
}
