# All waves take the same side of a uniform conditional: the write and the read never both happen.
# EXPECT: clean
kernel @exclusive_sides waves=4 {
  shared %a : 1024
  if %c {
    write %a
  } else {
    read %a
  }
}
