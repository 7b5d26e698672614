# Each iteration waits for its copy, and the copy for the read of the one before.
# EXPECT: race RAW 8 -> 9
# EXPECT: race WAR 9 -> 8 next-iteration
kernel @in_a_loop waves=4 {
  shared %a : 64
  if wave == 1 {
    loop %i in 0..? {
      gather_to_lds %a
      read %a
    }
  }
}
