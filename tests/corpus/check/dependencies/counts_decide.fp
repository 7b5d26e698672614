# With counts these alone decide: the barrier comes after the copy and does not wait for it.
# EXPECT: race RAW 5 -> 7
kernel @counts_decide waves=4 {
  shared %a : 512
  %t = gather_to_lds %a
  barrier after %t load=1
  read %a
}
