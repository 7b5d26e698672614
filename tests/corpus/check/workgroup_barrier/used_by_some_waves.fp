# Two waves have used their data, two have not.
# EXPECT: race WAR 5 -> 10
kernel @used_by_some_waves waves=4 {
  shared %a : 64
  %x = read %a
  if wave < 2 {
    compute %x
  }
  workgroup_barrier
  write %a
}
