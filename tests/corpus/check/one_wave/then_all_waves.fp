# The others have to meet the wave behind its wait.
# EXPECT: race RAW 6 -> 7
kernel @then_all_waves waves=4 {
  shared %a : 64
  if wave == 1 {
    gather_to_lds %a
    read %a
  }
  read %a
}
