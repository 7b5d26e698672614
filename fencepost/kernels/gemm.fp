# Tiled matrix multiplication: in each iteration all waves bring a tile of each
# operand into shared memory, then every wave reads what the others have written.
kernel @gemm waves=4 {
  shared %a : 8192
  shared %b : 8192
  loop %k in 0..64 {
    %ga = global_read
    %gb = global_read
    write %a, %ga
    write %b, %gb
    %x = read %a
    %y = read %b
    mma %x, %y
  }
}
