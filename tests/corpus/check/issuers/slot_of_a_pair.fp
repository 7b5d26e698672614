# Two waves share each slot, and share it the same way both times.
# EXPECT: clean
kernel @slot_of_a_pair waves=4 {
  shared %a : 2 x 64
  gather_to_lds %a[wave % 2]
  gather_to_lds %a[wave % 2]
}
