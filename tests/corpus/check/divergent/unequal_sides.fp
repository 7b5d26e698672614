# Two barriers meet one: the second waits for ever.
# EXPECT: deadlock stuck 6
kernel @unequal_sides waves=4 {
  if wave < 2 {
    barrier
    barrier
  } else {
    barrier
  }
}
