# Whenever the outer loop goes round, the inner one runs, and its barrier lies between two writes.
# EXPECT: clean
kernel @two_loops_to_one_bound waves=4 {
  shared %a : 192
  param %n
  loop %i in 0..%n step 2 {
    write %a
    loop %j in 1..%n {
      barrier
    }
  }
}
