# There is nothing to wait for in the first iteration, and the condition says exactly that.
# EXPECT: clean
kernel @first_iteration_needs_none waves=4 {
  shared %a : 1024
  loop %i in 0..4 {
    if %i > 0 {
      barrier
    }
    write %a
    barrier
    read %a
  }
}
