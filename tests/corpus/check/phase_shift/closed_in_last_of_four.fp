# The same with few iterations.
# EXPECT: clean
kernel @closed_in_last_of_four waves=4 {
  if wave >= 2 {
    workgroup_barrier
  }
  loop %i in 0..4 {
    barrier
    if %i == 3 {
      if wave < 2 {
        workgroup_barrier
      }
    }
  }
}
