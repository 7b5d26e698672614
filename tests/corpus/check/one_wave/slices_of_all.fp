# So it is without a conditional: waits are enough.
# EXPECT: race RAW 6 -> 7
# EXPECT: race WAR 7 -> 8
kernel @slices_of_all waves=4 {
  shared %d : 4 x 64
  gather_to_lds %d[wave]
  read %d[wave]
  gather_to_lds %d[wave]
}
