# Counting by three the slots alternate again.
# EXPECT: clean
kernel @double_buffer_odd_steps waves=4 {
  shared %a : 2 x 512
  loop %i in 0..9 step 3 {
    write %a[%i % 2]
    barrier
    read %a[%i % 2]
  }
}
