# A region for some of the waves knows the same memory under another name.
# EXPECT: race RAW 7 -> 9
kernel @captured_alias waves=4 {
  shared %a : 1024 at 0
  shared %captured : 1024 at 0
  if wave < 2 {
    write %a
  } else {
    read %captured
  }
}
