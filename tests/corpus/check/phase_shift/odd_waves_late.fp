# Halves need not be contiguous.
# EXPECT: race WAR 8 -> 10
kernel @odd_waves_late waves=4 {
  shared %a : 1024
  if wave % 2 == 1 {
    workgroup_barrier
  }
  read %a
  barrier
  write %a
  barrier
  if wave % 2 == 0 {
    workgroup_barrier
  }
}
