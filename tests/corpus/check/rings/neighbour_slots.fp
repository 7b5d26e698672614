# Within an iteration the write and the read touch different slots; one barrier an iteration does the rest.
# EXPECT: clean
kernel @neighbour_slots waves=4 {
  shared %a : 3 x 512
  loop %i in 0..9 {
    write %a[(%i + 1) % 3]
    read %a[%i % 3]
    barrier
  }
}
