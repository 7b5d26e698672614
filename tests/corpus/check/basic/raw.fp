# The smallest race: one wave writes, another reads, and nothing stands between.
# EXPECT: race RAW 5 -> 6
kernel @raw waves=4 {
  shared %a : 1024
  write %a
  read %a
}
