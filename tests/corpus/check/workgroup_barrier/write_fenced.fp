# LDS counter down to zero, then the rendezvous: together a shared-memory barrier.
# EXPECT: clean
kernel @write_fenced waves=4 {
  shared %a : 1024
  write %a
  wait_count lds=0
  workgroup_barrier
  read %a
}
