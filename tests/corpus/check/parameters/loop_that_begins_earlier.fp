# With 0, the first loop does not run and the second one does.
# EXPECT: race RAW 6 -> 11
kernel @loop_that_begins_earlier waves=4 {
  shared %a : 64
  param %n
  write %a
  loop %i in 0..%n {
    barrier
  }
  loop %j in -1..%n {
    read %a
  }
}
