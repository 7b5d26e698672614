# A single wave's own operations are in order.
# EXPECT: clean
kernel @no_rendezvous waves=1 {
  shared %a : 1024
  loop %i in 0..4 {
    write %a
    read %a
    write %a
  }
}
