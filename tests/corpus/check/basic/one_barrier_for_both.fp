# One barrier behind both writes serves both reads.
# EXPECT: clean
kernel @one_barrier_for_both waves=4 {
  shared %a : 1024
  shared %b : 1024
  write %a
  write %b
  barrier
  read %b
  read %a
}
