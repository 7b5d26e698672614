# The branch always goes one way: what stands on the other never runs.
# EXPECT: clean
kernel @constant_branch waves=2 {
  shared %a : 64
  cond_br 0 < 1, ^x, ^y
^x:
  return
^y:
  write %a
  read %a
  return
}
