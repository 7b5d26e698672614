# The barrier of the outer loop does not help the inner one, which goes round without it.
# EXPECT: race WAR 11 -> 9 next-iteration
kernel @nested_barrier_outside waves=4 {
  shared %a : 1024
  loop %i in 0..2 {
    barrier
    loop %j in 0..3 {
      loop %k in 0..2 {
        write %a
        barrier
        read %a
      }
    }
  }
}
