# Each wave copies into its own slot twice: one wave's engine keeps order.
# EXPECT: clean
kernel @own_slot_twice waves=4 {
  shared %a : 4 x 64
  gather_to_lds %a[wave]
  gather_to_lds %a[wave]
}
