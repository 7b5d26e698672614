# Of 4096 paths, one has no barrier. Waits of part of the waves are no barriers either.
# EXPECT: race RAW 8 -> 45
kernel @twelve_flags waves=4 {
  shared %a : 64
  if wave < 2 {
    wait_count lds=0
  }
  write %a
  if %c0 {
    barrier
  }
  if %c1 {
    barrier
  }
  if %c2 {
    barrier
  }
  if %c3 {
    barrier
  }
  if %c4 {
    barrier
  }
  if %c5 {
    barrier
  }
  if %c6 {
    barrier
  }
  if %c7 {
    barrier
  }
  if %c8 {
    barrier
  }
  if %c9 {
    barrier
  }
  if %c10 {
    barrier
  }
  if %c11 {
    barrier
  }
  read %a
}
