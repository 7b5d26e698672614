# Held back by two rendezvous, a late access needs three barriers to an early one; here are two.
# EXPECT: race WAR 9 -> 12
kernel @shifted_by_two waves=4 {
  shared %a : 1024
  if wave >= 2 {
    workgroup_barrier
    workgroup_barrier
  }
  read %a
  barrier
  barrier
  write %a
  barrier
  if wave < 2 {
    workgroup_barrier
    workgroup_barrier
  }
}
