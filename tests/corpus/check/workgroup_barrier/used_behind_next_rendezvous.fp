# The same with the use behind that rendezvous.
# EXPECT: race WAR 11 -> 8 next-iteration
kernel @used_behind_next_rendezvous waves=4 {
  shared %a : 1024
  loop %i in 0..4 {
    workgroup_barrier
    compute %x
    write %a
    wait_count lds=0
    workgroup_barrier
    %x = read %a
  }
}
