# An addition and a maximum give another result the other way round.
# EXPECT: race RAW 5 -> 6
kernel @other_update waves=4 {
  shared %a : 64
  atomic %a update=add
  atomic %a update=max
}
