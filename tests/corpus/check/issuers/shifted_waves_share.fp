# Waves that run a phase apart share both copies as before.
# EXPECT: clean
kernel @shifted_waves_share waves=4 {
  shared %a : 64
  if wave < 2 {
    workgroup_barrier
  }
  loop %i in 0..? {
    gather_to_lds %a
    workgroup_barrier
    workgroup_barrier
  }
  if wave >= 2 {
    workgroup_barrier
  }
}
