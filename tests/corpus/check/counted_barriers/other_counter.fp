# A count for one counter says nothing about another; the plain write is fenced all the same.
# EXPECT: race RAW 6 -> 9
kernel @other_counter waves=4 {
  shared %a : 512
  shared %b : 512
  gather_to_lds %a
  write %b
  barrier tensor=0
  read %a
  read %b
}
