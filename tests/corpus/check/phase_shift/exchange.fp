# The barrier inside an exchange meets another one of the waves that are delayed; no barrier outside of it helps.
# EXPECT: race RAW 11 -> 11
kernel @exchange waves=8 {
  shared %s : 256
  if wave >= 4 {
    workgroup_barrier
  }
  loop %i in 0..4 {
    barrier
    barrier
    exchange %s
    barrier
    barrier
  }
  if wave < 4 {
    workgroup_barrier
  }
}
