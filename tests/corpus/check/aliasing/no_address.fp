# An allocation without an address shares bytes with nothing.
# EXPECT: clean
kernel @no_address waves=4 {
  shared %a : 64
  shared %b : 64 at 0
  write %a
  read %b
}
