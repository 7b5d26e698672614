# A straight line with all three kinds of hazards; the author has thought of the first only.
kernel @tile waves=4 {
  shared %a : 4096
  shared %b : 4096
  %g = global_read
  write %a, %g
  barrier  # the tile is there
  %x = read %a
  write %a, %x
  write %b, %x
  write %b[0..64], %x
  %y = read %b
  global_write %y
}
