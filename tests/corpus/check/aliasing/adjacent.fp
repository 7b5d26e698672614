# Neighbours that touch but share no byte.
# EXPECT: clean
kernel @adjacent waves=4 {
  shared %a : 64 at 0
  shared %b : 64 at 64
  write %a
  read %b
}
