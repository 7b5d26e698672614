# A write in iteration i and a read in iteration i+1 meet only across the back edge.
# EXPECT: race WAR 7 -> 8
# EXPECT: race RAW 8 -> 7 next-iteration
kernel @carried waves=4 {
  shared %a : 1024
  loop %i in 0..8 {
    read %a
    write %a
  }
}
