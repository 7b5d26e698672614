# The closing barrier stands in the last iteration of the loop.
# EXPECT: clean
kernel @closed_in_last_iteration waves=4 {
  if wave >= 2 {
    workgroup_barrier
  }
  loop %i in 0..40 {
    barrier
    if %i == 39 {
      if wave < 2 {
        workgroup_barrier
      }
    }
  }
}
