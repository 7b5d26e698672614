# Every read of the inner loop races with the write behind it; the outer back edge has its barrier.
# EXPECT: race WAR 8 -> 10
kernel @read_in_inner_write_in_outer waves=4 {
  shared %a : 1024
  loop %i in 0..4 {
    barrier
    loop %j in 0..4 {
      read %a
    }
    write %a
  }
}
