# One barrier between them.
# EXPECT: clean
kernel @twice_fixed waves=4 {
  shared %s : 512
  exchange %s
  barrier
  exchange %s
}
