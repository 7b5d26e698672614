# Wave 0 has its result; the others may not.
# EXPECT: race WAR 5 -> 10
kernel @one_wave_uses_it waves=4 {
  shared %a : 64
  %x = read %a
  if wave == 0 {
    compute %x
  }
  workgroup_barrier
  write %a
}
