# After 61 iterations slot 0 was written behind the last barrier, slots 1 and 2 before it.
# EXPECT: race RAW 6 -> 13
kernel @where_the_loop_ends waves=4 {
  shared %a : 3 x 64
  loop %i in 0..61 {
    write %a[%i % 3]
    if %i % 3 == 2 {
      barrier
    }
  }
  read %a[1]
  read %a[2]
  read %a[0]
}
