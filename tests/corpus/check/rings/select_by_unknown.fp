# What a select with an unknown condition chooses is not known: it may be any slot.
# EXPECT: race RAW 5 -> 6
kernel @select_by_unknown waves=4 {
  shared %a : 2 x 64
  write %a[select(? < 1, 0, 1)]
  read %a[1]
}
