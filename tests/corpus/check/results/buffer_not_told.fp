# %u may be %a.
# EXPECT: race RAW 11 -> 12
kernel @buffer_not_told waves=4 {
  shared %a : 64
  shared %b : 64
  if %c gives %u {
    give %a
  } else {
    give %b
  }
  write %u
  read %a
}
