# The inner loop may be skipped, and its barrier with it.
# EXPECT: race RAW 6 -> 10
kernel @inner_unknown_barrier waves=4 {
  shared %a : 1024
  loop %i in 0..4 {
    write %a
    loop %j in 0..? {
      barrier
    }
    read %a
    barrier
  }
}
