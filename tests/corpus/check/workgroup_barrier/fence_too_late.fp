# A fence behind the rendezvous tells the others nothing.
# EXPECT: race RAW 5 -> 8
kernel @fence_too_late waves=4 {
  shared %a : 1024
  write %a
  workgroup_barrier
  wait_count lds=0
  read %a
}
