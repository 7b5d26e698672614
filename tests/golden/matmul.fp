# A matrix product through two single buffers: the author has guarded the refill of the first, but not of the second.
kernel @matmul waves=8 {
  shared %a : 16384
  shared %b : 16384
  loop %i in 0..64 {
    %u = global_read
    %v = global_read
    write %a, %u
    write %b, %v
    barrier  # both tiles are there
    %x = read %a
    barrier  # the first tile may be refilled
    %y = read %b
    mma %x, %y
  }
}
