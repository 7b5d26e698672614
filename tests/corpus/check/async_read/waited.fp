# A wait in every wave, then a barrier: no engine reads any more.
# EXPECT: clean
kernel @waited waves=4 {
  shared %a : 512
  async_mma %a
  wait_count mma=0
  barrier
  write %a
}
