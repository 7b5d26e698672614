# A wait that is told to come after a copy waits for all engines.
# EXPECT: clean
kernel @wait_drains waves=4 {
  shared %a : 512
  shared %b : 512
  %t = gather_to_lds %a
  async_mma %b
  wait_count after %t
  barrier
  read %a
  write %b
}
