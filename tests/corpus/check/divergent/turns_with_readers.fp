# Each iteration another wave writes and the others read, a barrier on each side and one behind.
# EXPECT: clean
kernel @turns_with_readers waves=4 {
  shared %a : 64
  loop %i in 0..4 {
    if wave == %i {
      write %a
      barrier
    } else {
      barrier
      read %a
    }
    barrier
  }
}
