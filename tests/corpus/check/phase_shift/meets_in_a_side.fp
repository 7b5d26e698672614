# The barrier inside the conditional meets the first one behind it; the next finds nobody.
# EXPECT: deadlock stuck 7
kernel @meets_in_a_side waves=4 {
  if wave < 2 {
    barrier
  }
  barrier
}
