# The caller's %i decides whether there is a barrier, the function's which slot is written.
# EXPECT: clean
func @fill {
  shared %s : 2 x 64
  loop %i in 0..2 {
    write %s[%i]
  }
}
kernel @same_variable_fixed waves=4 {
  loop %i in 0..2 {
    call @fill
    if %i < 1 {
      barrier
    }
  }
}
