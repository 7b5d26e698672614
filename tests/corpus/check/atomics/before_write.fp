# Resetting the counter while others still count.
# EXPECT: race WAW 5 -> 6
kernel @before_write waves=4 {
  shared %a : 64
  atomic %a
  write %a
}
