# Used where the flag is set, not elsewhere.
# EXPECT: race WAR 5 -> 10
kernel @read_used_on_one_side waves=4 {
  shared %a : 1024
  %x = read %a
  if %c {
    compute %x
  }
  workgroup_barrier
  write %a
}
