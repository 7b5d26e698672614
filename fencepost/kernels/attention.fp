# Attention: scores = Q·K, a row maximum across waves, then the output = P·V.
# K and V take turns in the same bytes, which the allocator has put at address 0.
kernel @attention waves=4 {
  shared %k : 16384 at 0
  shared %v : 16384 at 0
  shared %row : 1024 at 16384
  loop %j in 0..? {
    %gk = global_read
    write %k, %gk
    %kt = read %k
    %scores = mma %kt
    # each wave's row maxima, exchanged through shared memory
    write %row, %scores
    %peak = read %row
    %p = compute %scores, %peak
    %gv = global_read
    write %v, %gv
    %vt = read %v
    mma %p, %vt
  }
}
