# Four on is the own slot again.
# EXPECT: clean
kernel @all_the_way_round waves=4 {
  shared %a : 4 x 256
  write %a[wave]
  read %a[(wave + 4) % 4]
}
