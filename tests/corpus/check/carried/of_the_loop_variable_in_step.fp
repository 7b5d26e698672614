# Not behind at all: both touch the same slot.
# EXPECT: race RAW 6 -> 7
kernel @of_the_loop_variable_in_step waves=4 {
  shared %a : 2 x 512
  loop %i in 0..40 carry %x = 0 {
    write %a[%i % 2]
    read %a[%x]
    barrier
    next (%i + 1) % 2
  }
}
