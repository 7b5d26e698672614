# Bytes are expected that never come.
# EXPECT: deadlock lifetime 5 11
kernel @ended_with_bytes_expected waves=2 {
  shared %o : 8
  mbarrier_init %o count=1
  barrier
  if wave == 0 {
    mbarrier_expect %o bytes=64
  }
  barrier
  mbarrier_inval %o
}
