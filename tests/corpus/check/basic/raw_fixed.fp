# A barrier that the author wrote is enough; it needs no second one beside it.
# EXPECT: clean
kernel @raw_fixed waves=4 {
  shared %a : 1024
  write %a
  barrier
  read %a
}
