# One back and three on are the same slot of four.
# EXPECT: clean
kernel @modulo_of_negative waves=4 {
  shared %a : 4 x 64
  write %a[(wave - 1) % 4]
  read %a[(wave + 3) % 4]
}
