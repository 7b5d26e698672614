# What uses the result has issued: the read is complete.
# EXPECT: clean
kernel @read_used waves=4 {
  shared %a : 1024
  %x = read %a
  compute %x
  workgroup_barrier
  write %a
}
