# Three further on is the same slot.
# EXPECT: race RAW 6 -> 7
kernel @slot_three_further waves=4 {
  shared %c : 3 x 64
  param %n
  write %c[%n % 3]
  read %c[(%n + 3) % 3]
}
