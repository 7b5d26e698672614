# Some runs end early, but all waves of them do; the others meet the barrier.
# EXPECT: clean
kernel @early_return waves=4 {
  shared %a : 1024
  write %a
  cond_br %done, ^out, ^go
^out:
  return
^go:
  barrier
  read %a
  return
}
