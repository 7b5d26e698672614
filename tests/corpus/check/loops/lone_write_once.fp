# A single instance of a write never conflicts with itself.
# EXPECT: clean
kernel @lone_write_once waves=4 {
  shared %a : 1024
  loop %i in 0..1 {
    write %a
  }
}
