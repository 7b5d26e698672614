# Both loops are called %i; each counts for itself, so the slots of the two calls are the same ones.
# EXPECT: race WAW 6 -> 6 next-iteration
func @fill {
  shared %s : 2 x 64
  loop %i in 0..2 {
    write %s[%i]
  }
}
kernel @same_variable waves=4 {
  loop %i in 0..2 {
    call @fill
    if %i == 5 {
      barrier
    }
  }
}
