# The loop of the caller goes round the function.
# EXPECT: race WAW 5 -> 5 next-iteration
func @stage {
  shared %s : 512
  write %s
}
kernel @in_a_loop waves=4 {
  loop %i in 0..4 {
    call @stage
  }
}
