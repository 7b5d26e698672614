# A barrier at the end of the middle loop lies on both back edges.
# EXPECT: clean
kernel @nested_three_deep_fixed waves=4 {
  shared %a : 1024
  loop %i in 0..2 {
    loop %j in 0..3 {
      loop %k in 0..4 {
        read %a
      }
      barrier
      write %a
      barrier
    }
  }
}
