# Between two phases that are shifted all waves are in step, and an exchange needs nothing else.
# EXPECT: clean
kernel @exchange_in_step waves=8 {
  shared %s : 256
  loop %i in 0..4 {
    if wave >= 4 {
      workgroup_barrier
    }
    barrier
    if wave < 4 {
      workgroup_barrier
    }
    barrier
    exchange %s
  }
}
