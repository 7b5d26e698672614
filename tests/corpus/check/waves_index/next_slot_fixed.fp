# With a barrier between.
# EXPECT: clean
kernel @next_slot_fixed waves=4 {
  shared %a : 4 x 256
  write %a[wave]
  barrier
  read %a[(wave + 1) % 4]
}
