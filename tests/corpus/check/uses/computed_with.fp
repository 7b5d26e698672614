# An operation has used the result, so the read is complete before the waves meet.
# EXPECT: clean
kernel @computed_with waves=4 {
  shared %a : 64
  %x = read %a
  compute %x
  workgroup_barrier
  write %a
}
