# Each side has its own read; only one of them has a barrier before it.
# EXPECT: race RAW 5 -> 10
kernel @read_on_both_sides waves=4 {
  shared %a : 1024
  write %a
  if %c {
    barrier
    read %a
  } else {
    read %a
  }
}
