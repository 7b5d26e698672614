# The next wave writes while the first one still may.
# EXPECT: race WAW 6 -> 6 next-iteration waves 0,1
func @stage {
  shared %s : 64
  loop %i in 0..2 {
    write %s
  }
}
kernel @guard_of_the_caller_no_barrier waves=2 {
  loop %i in 0..2 {
    if wave == %i {
      call @stage
    }
  }
}
