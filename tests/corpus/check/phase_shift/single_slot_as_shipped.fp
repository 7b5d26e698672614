# The same with one slot: the early half overwrites what the late half is reading in the same stretch.
# EXPECT: race WAR 9 -> 12
kernel @single_slot_as_shipped waves=4 {
  shared %a : 1024
  if wave >= 2 {
    workgroup_barrier
  }
  loop %i in 0..4 {
    %x = read %a
    workgroup_barrier
    mma %x
    write %a
    barrier
    compute
    workgroup_barrier
  }
  if wave < 2 {
    workgroup_barrier
  }
}
