# The unknown loop may run once, or many times: its body meets itself.
# EXPECT: race WAR 8 -> 6 next-iteration
kernel @unknown_trip_body waves=4 {
  shared %a : 1024
  loop %i in 0..? {
    write %a
    barrier
    read %a
  }
}
