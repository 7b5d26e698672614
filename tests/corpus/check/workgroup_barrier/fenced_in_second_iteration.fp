# The fence of the first iteration stands before the rendezvous of the second.
# EXPECT: clean
kernel @fenced_in_second_iteration waves=4 {
  shared %a : 64
  write %a
  loop %i in 0..2 {
    workgroup_barrier
    wait_count lds=0
  }
  read %a
}
