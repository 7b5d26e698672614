# With three iterations the outer loop goes round once, and the inner one does not run.
# EXPECT: race WAW 7 -> 7 next-iteration
kernel @two_loops_to_one_bound_late waves=4 {
  shared %a : 192
  param %n
  loop %i in 0..%n step 2 {
    write %a
    loop %j in 3..%n {
      barrier
    }
  }
}
