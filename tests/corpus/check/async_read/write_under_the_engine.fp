# A matrix engine may still read its operand when the wave overwrites it.
# EXPECT: race WAR 6 -> 7
kernel @write_under_the_engine waves=4 {
  shared %a : 512
  shared %b : 512
  async_mma %a, %b
  write %b
}
