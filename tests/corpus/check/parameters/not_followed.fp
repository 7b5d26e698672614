# Of a product of two numbers nothing is known: it may be any slot.
# EXPECT: race RAW 7 -> 8
kernel @not_followed waves=4 {
  shared %c : 3 x 64
  param %n
  param %m
  write %c[%n * %m % 3]
  read %c[(%n * %m + 1) % 3]
}
