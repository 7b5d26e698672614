# It does not matter whose result is used.
# EXPECT: race RAW 5 -> 6
kernel @used_result_later waves=4 {
  shared %a : 64
  atomic %a
  %old = atomic %a
  compute %old
}
