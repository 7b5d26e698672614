# The inner loops run once: only the outer one goes round, and its barrier covers that.
# EXPECT: clean
kernel @nested_inner_once waves=4 {
  shared %a : 1024
  loop %i in 0..2 {
    barrier
    loop %j in 0..1 {
      loop %k in 5..6 {
        write %a
        barrier
        read %a
      }
    }
  }
}
