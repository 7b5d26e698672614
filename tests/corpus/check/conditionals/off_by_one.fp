# One off: the second iteration also goes without, and overwrites what the first still reads.
# EXPECT: race WAR 11 -> 9 next-iteration
kernel @off_by_one waves=4 {
  shared %a : 1024
  loop %i in 0..4 {
    if %i > 1 {
      barrier
    }
    write %a
    barrier
    read %a
  }
}
