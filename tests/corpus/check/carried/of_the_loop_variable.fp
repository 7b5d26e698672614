# It follows the loop's variable, one iteration behind.
# EXPECT: clean
kernel @of_the_loop_variable waves=4 {
  shared %a : 2 x 512
  loop %i in 0..40 carry %x = 1 {
    write %a[%i % 2]
    read %a[%x]
    barrier
    next %i % 2
  }
}
