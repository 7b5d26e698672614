# The result is used behind the rendezvous: the read may be under way when another wave writes.
# EXPECT: race WAR 5 -> 8
kernel @used_too_late waves=4 {
  shared %a : 64
  %x = read %a
  workgroup_barrier
  compute %x
  write %a
}
