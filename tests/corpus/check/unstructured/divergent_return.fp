# Half of the waves leave early; the other half waits for them.
# EXPECT: deadlock stuck 8
kernel @divergent_return waves=4 {
  cond_br wave < 2, ^out, ^go
^out:
  return
^go:
  barrier
  return
}
