# Each half of the waves has a copy of its own: no order, however many barriers lie between them.
# EXPECT: race WAW 11 -> 16
# EXPECT: race WAW 16 -> 11 next-iteration
kernel @shifted_waves_apart waves=4 {
  shared %a : 64
  if wave < 2 {
    workgroup_barrier
  }
  loop %i in 0..? {
    if wave < 2 {
      gather_to_lds %a
    }
    workgroup_barrier
    workgroup_barrier
    if wave >= 2 {
      gather_to_lds %a
    }
  }
  if wave >= 2 {
    workgroup_barrier
  }
}
