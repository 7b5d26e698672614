# The read is complete behind the fence.
# EXPECT: clean
kernel @fence_and_copy waves=4 {
  shared %a : 64
  if wave == 1 {
    read %a
    wait_count lds=0
    gather_to_lds %a
  }
}
