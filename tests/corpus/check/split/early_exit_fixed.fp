# The wait stands before the way out.
# EXPECT: clean
kernel @early_exit_fixed waves=4 {
  shared %a : 1024
  write %a
  signal 1
  wait 1
  cond_br %done, ^exit, ^go
^go:
  read %a
  return
^exit:
  return
}
