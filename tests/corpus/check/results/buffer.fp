# One buffer or the other, and the one that is not chosen is free.
# EXPECT: clean
kernel @buffer waves=4 {
  shared %a : 64
  shared %b : 64
  if %c gives %u, %v {
    give %a, %b
  } else {
    give %b, %a
  }
  write %u
  read %v
}
