# Each wave copies into the slot that its neighbour copied into before.
# EXPECT: race WAW 5 -> 6
kernel @slot_of_the_neighbour waves=4 {
  shared %a : 4 x 64
  gather_to_lds %a[wave]
  gather_to_lds %a[(wave + 1) % 4]
}
