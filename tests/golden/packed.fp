# Two allocations on common bytes, the second one filled by half of the waves.
kernel @packed waves=4 {
  shared %k : 1024 at 0
  shared %v : 1024 at 512
  write %k
  barrier  # filled
  %x = read %k
  if wave < 2 {
    write %v, %x
  }
  barrier  # filled again
  read %v
}
