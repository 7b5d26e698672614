# The call that would race runs only in iterations that there are not.
# EXPECT: clean
func @overwrite {
  shared %s : 64 at 0
  write %s
}
kernel @under_a_condition waves=4 {
  shared %a : 64 at 0
  loop %i in 0..4 {
    read %a
    if %i == 7 {
      call @overwrite
    }
  }
}
