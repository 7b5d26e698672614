# Whether a wave waits for its copy is not known; so the copy may be in flight when the others read.
# EXPECT: race RAW 5 -> 10
kernel @unknown_set_waits_for_a_copy waves=2 {
  shared %a : 64
  gather_to_lds %a
  if wave < ? {
    wait_count load=0
  }
  barrier
  read %a
}
