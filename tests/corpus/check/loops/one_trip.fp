# The same body, run once: there is no next iteration.
# EXPECT: clean
kernel @one_trip waves=4 {
  shared %a : 1024
  loop %i in 0..1 {
    write %a
    barrier
    read %a
  }
}
