# The value is used at the top of the next iteration, before the rendezvous that lets the write go.
# EXPECT: clean
kernel @used_in_next_iteration waves=4 {
  shared %a : 1024
  loop %i in 0..4 {
    compute %x
    workgroup_barrier
    write %a
    wait_count lds=0
    workgroup_barrier
    %x = read %a
  }
}
