# The caller's %i says which wave calls; the function's own %i counts for itself. One wave at a time.
# EXPECT: clean
func @stage {
  shared %s : 64
  loop %i in 0..2 {
    write %s
  }
}
kernel @guard_of_the_caller waves=2 {
  loop %i in 0..2 {
    if wave == %i {
      call @stage
    }
    barrier
  }
}
