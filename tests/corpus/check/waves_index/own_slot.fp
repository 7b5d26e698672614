# Every wave has a slot of its own.
# EXPECT: clean
kernel @own_slot waves=4 {
  shared %a : 4 x 256
  loop %i in 0..4 {
    write %a[wave]
    read %a[wave]
  }
}
