# Lanes of one wave write a column, which cuts through the rows that the other waves read.
# EXPECT: race RAW 5 -> 6
kernel @across waves=4 {
  shared %a : 1024
  write %a[lane * 16 + wave * 4..lane * 16 + wave * 4 + 4]
  read %a[wave * 256 + lane * 4..wave * 256 + lane * 4 + 4]
}
