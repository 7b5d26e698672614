# The write of the next round hits a slot that a neighbour still reads.
# EXPECT: race WAR 8 -> 6 next-iteration
kernel @write_while_neighbour_reads waves=4 {
  shared %a : 4 x 256
  loop %i in 0..4 {
    write %a[wave]
    barrier
    read %a[(wave + 1) % 4]
  }
}
