# The use stands behind the rendezvous; another wave may be writing by then.
# EXPECT: race WAR 5 -> 8
kernel @read_used_too_late waves=4 {
  shared %a : 1024
  %x = read %a
  workgroup_barrier
  compute %x
  write %a
}
