# Counting before the reset is done: the atomic reads what was written.
# EXPECT: race RAW 5 -> 6
kernel @after_write waves=4 {
  shared %a : 64
  write %a
  atomic %a
}
