# Between two rendezvous there is time for a fence; the second one counts.
# EXPECT: clean
kernel @fence_then_two waves=4 {
  shared %a : 1024
  write %a
  workgroup_barrier
  wait_count lds=0
  workgroup_barrier
  read %a
}
