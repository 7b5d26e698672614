# Each iteration another wave writes; without a barrier their turns overlap.
# EXPECT: race WAW 7 -> 7 next-iteration
kernel @turns waves=4 {
  shared %a : 1024
  loop %i in 0..4 {
    if wave == %i {
      write %a
    }
  }
}
