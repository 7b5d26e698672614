# Waves of which a half is delayed: the same question has the same answer for them, too.
# EXPECT: clean
kernel @apart waves=4 {
  shared %a : 64
  param %n
  if wave >= 2 {
    workgroup_barrier
  }
  if %n % 2 == 1 {
    write %a
  }
  loop %i in 0..? {
    barrier
  }
  if %n % 2 == 0 {
    read %a
  }
  if wave < 2 {
    workgroup_barrier
  }
}
