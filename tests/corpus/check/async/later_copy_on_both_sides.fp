# On both sides there is one more copy: the count holds.
# EXPECT: clean
kernel @later_copy_on_both_sides waves=4 {
  shared %a : 1024
  shared %b : 2 x 512
  gather_to_lds %a
  if %c {
    gather_to_lds %b[0]
  } else {
    gather_to_lds %b[1]
  }
  wait_count load=1
  barrier
  read %a
}
