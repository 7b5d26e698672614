# The fence need not stand right in front of the rendezvous.
# EXPECT: clean
kernel @fence_some_way_ahead waves=4 {
  shared %a : 64
  shared %b : 64
  write %a
  wait_count lds=0
  %x = read %b
  workgroup_barrier
  read %a
}
