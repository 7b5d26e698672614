# Modulo-scheduled matrix multiplication: iteration i multiplies tile i, writes tile i+1
# into the other slot and fetches tile i+2. A tile is multiplied in two halves, and the
# first half of the next one is read before the iteration ends: its MMAs begin at once.
kernel @gemm_modulo waves=8 {
  shared %a : 2 x 8192
  shared %b : 2 x 8192
  # prologue: tile 0 in shared memory, its first half and tile 1 in registers
  %ga0 = global_read
  %gb0 = global_read
  %ga1 = global_read
  %gb1 = global_read
  write %a[0], %ga0
  write %b[0], %gb0
  %x0 = read %a[0][0..4096]
  %y0 = read %b[0][0..4096]
  loop %i in 0..63 carry %ga = %ga1, %gb = %gb1, %x = %x0, %y = %y0 {
    # tile i+2 sets off; the last one lies beyond the matrix and is not used
    %ga2 = global_read
    %gb2 = global_read
    # tile i: the first half is there, the second one comes from shared memory
    %xs = read %a[%i % 2][4096..8192]
    %ys = read %b[%i % 2][4096..8192]
    mma %x, %y
    mma %x, %y
    write %a[(%i + 1) % 2], %ga
    mma %x, %y
    mma %x, %y
    write %b[(%i + 1) % 2], %gb
    loop %m in 0..8 {
      mma %x, %y
    }
    loop %n in 0..8 {
      mma %xs, %ys
    }
    # the first half of tile i+1
    %xn = read %a[(%i + 1) % 2][0..4096]
    %yn = read %b[(%i + 1) % 2][0..4096]
    next %ga2, %gb2, %xn, %yn
  }
  # epilogue: the last tile
  %xl = read %a[1][4096..8192]
  %yl = read %b[1][4096..8192]
  mma %x, %y
  mma %xl, %yl
}
