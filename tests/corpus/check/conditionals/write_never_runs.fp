# The write stands behind a condition that never holds.
# EXPECT: clean
kernel @write_never_runs waves=4 {
  shared %a : 64
  if 1 < 0 {
    write %a
  }
  read %a
}
