# Two slots of a ring that are never the same, whatever the parameter is.
# EXPECT: clean
kernel @next_slot waves=4 {
  shared %c : 3 x 64
  param %n
  write %c[%n % 3]
  read %c[(%n + 1) % 3]
}
