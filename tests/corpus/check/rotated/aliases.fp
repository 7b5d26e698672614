# Two names for buffers that share bytes.
# EXPECT: race RAW 7 -> 8
kernel @aliases waves=4 {
  shared %a : 512 at 0
  shared %b : 512 at 256
  loop %i in 0..? carry %u = %a, %v = %b {
    write %u
    read %v
    barrier
    next %v, %u
  }
}
