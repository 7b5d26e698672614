# The use waits for the last of the reads, and one wave's reads complete in order.
# EXPECT: clean
kernel @last_read_used waves=4 {
  shared %a : 2 x 64
  loop %i in 0..2 {
    %x = read %a[%i]
  }
  compute %x
  workgroup_barrier
  write %a
}
