# A loop in steps of 64: a tile is left exactly if the next step is still below the bound.
# EXPECT: clean
kernel @tiles_of_64 waves=4 {
  shared %tile : 4096
  param %k
  write %tile
  loop %i in 0..%k step 64 {
    barrier
    read %tile
    if %i + 64 < %k {
      barrier
      write %tile
    }
  }
  barrier
  write %tile
}
