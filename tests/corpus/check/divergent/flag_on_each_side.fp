# A flag is unknown each time it is met, so the sides may disagree.
# EXPECT: deadlock stuck 7
# EXPECT: deadlock stuck 11
kernel @flag_on_each_side waves=2 {
  if wave == 0 {
    if %c {
      barrier
    }
  } else {
    if %c {
      barrier
    }
  }
}
