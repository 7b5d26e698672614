# A copy that its wave has waited for needs no fence.
# EXPECT: clean
kernel @copy_waited_for waves=4 {
  shared %a : 64
  gather_to_lds %a
  wait_count load=0
  workgroup_barrier
  %x = read %a
  mma %x
  workgroup_barrier
  gather_to_lds %a
}
