# Dropping that barrier is no cure: the waves of the side still race.
# EXPECT: race RAW 6 -> 7
kernel @barrier_dropped waves=4 {
  shared %a : 1024
  if wave < 2 {
    write %a
    read %a
  }
}
