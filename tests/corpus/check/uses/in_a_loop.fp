# Reads are used, writes are waited for.
# EXPECT: clean
kernel @in_a_loop waves=4 {
  shared %a : 64
  loop %i in 0..? {
    %x = read %a
    mma %x
    workgroup_barrier
    write %a
    wait_count lds=0
    workgroup_barrier
  }
}
