# In a loop they do, in different iterations.
# EXPECT: race WAW 9 -> 9 next-iteration
# EXPECT: race RAW 9 -> 11 next-iteration
# EXPECT: race WAR 11 -> 9 next-iteration
kernel @exclusive_sides_in_a_loop waves=4 {
  shared %a : 1024
  loop %i in 0..? {
    if %c {
      write %a
    } else {
      read %a
    }
  }
}
