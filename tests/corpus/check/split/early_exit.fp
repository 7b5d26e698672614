# Where the kernel ends early, the wait is skipped.
# EXPECT: deadlock left signalled 6
kernel @early_exit waves=4 {
  shared %a : 1024
  write %a
  signal 1
  cond_br %done, ^exit, ^go
^go:
  wait 1
  read %a
  return
^exit:
  return
}
