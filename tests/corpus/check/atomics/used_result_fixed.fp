# A barrier gives the program's order.
# EXPECT: clean
kernel @used_result_fixed waves=4 {
  shared %a : 64
  %old = atomic %a
  barrier
  atomic %a
  compute %old
}
