# An expected trip count of one is not a bound: the loop may still go round.
# EXPECT: race WAR 9 -> 7 next-iteration
kernel @expected_trip_is_no_promise waves=4 {
  shared %a : 1024
  br ^body
^body:
  write %a
  barrier
  read %a
  cond_br %again, ^body, ^exit trip=1
^exit:
  return
}
