# A barrier for part of the waves: they wait for the others for ever.
# EXPECT: deadlock stuck 7
kernel @barrier_on_one_side waves=4 {
  shared %a : 1024
  if wave < 2 {
    write %a
    barrier
    read %a
  }
}
