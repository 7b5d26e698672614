# The slot changes every tenth iteration, the barrier comes with it: the other nine go without.
# EXPECT: race WAW 9 -> 9 next-iteration
kernel @slot_for_ten_iterations waves=4 {
  shared %a : 2 x 64
  loop %i in 0..100 {
    if %i % 10 == 0 {
      barrier
    }
    write %a[%i // 10 % 2]
  }
}
