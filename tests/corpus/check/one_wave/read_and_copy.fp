# The read may be under way when the engine begins to copy.
# EXPECT: race WAR 6 -> 7
kernel @read_and_copy waves=4 {
  shared %a : 64
  if wave == 1 {
    read %a
    gather_to_lds %a
  }
}
