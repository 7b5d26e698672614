# Whether a wave fences before the rendezvous is not known, so its write may be outstanding.
# EXPECT: race RAW 5 -> 10
kernel @unknown_set_fences waves=2 {
  shared %a : 64
  write %a
  if wave < ? {
    wait_count lds=0
  }
  workgroup_barrier
  read %a
}
