# A loop up to the same number runs exactly if the other one does.
# EXPECT: clean
kernel @loops_up_to_one_number waves=4 {
  shared %a : 64
  param %n
  write %a
  loop %i in 0..%n {
    barrier
  }
  loop %j in 0..%n {
    read %a
  }
}
