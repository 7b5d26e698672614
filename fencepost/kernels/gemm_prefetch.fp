# Double-buffered matrix multiplication with prefetch, unrolled by two: while one
# slot is multiplied, the next tile is on its way into the other. Of the 32 MMAs of
# a tile, 28 give the tile time to come, and the last four stand behind its writes.
kernel @gemm_prefetch waves=8 {
  shared %a : 2 x 8192
  shared %b : 2 x 8192
  # the first tile
  %ga = global_read
  %gb = global_read
  write %a[0], %ga
  write %b[0], %gb
  loop %k in 0..32 {
    # even: multiply slot 0, fill slot 1
    %ga1 = global_read
    %gb1 = global_read
    %x0 = read %a[0]
    %y0 = read %b[0]
    loop %m0 in 0..7 {
      mma %x0, %y0
      mma %x0, %y0
      mma %x0, %y0
      mma %x0, %y0
    }
    write %a[1], %ga1
    write %b[1], %gb1
    mma %x0, %y0
    mma %x0, %y0
    mma %x0, %y0
    mma %x0, %y0
    # odd: multiply slot 1, fill slot 0
    %ga0 = global_read
    %gb0 = global_read
    %x1 = read %a[1]
    %y1 = read %b[1]
    loop %m1 in 0..7 {
      mma %x1, %y1
      mma %x1, %y1
      mma %x1, %y1
      mma %x1, %y1
    }
    write %a[0], %ga0
    write %b[0], %gb0
    mma %x1, %y1
    mma %x1, %y1
    mma %x1, %y1
    mma %x1, %y1
  }
  # the last tile
  %x = read %a[0]
  %y = read %b[0]
  mma %x, %y
}
