# Two iterations, two slots: no slot is ever used twice.
# EXPECT: clean
kernel @few_trips waves=4 {
  shared %a : 2 x 512
  loop %i in 0..2 {
    write %a[%i]
  }
}
