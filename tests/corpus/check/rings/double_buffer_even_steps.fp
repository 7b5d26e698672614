# Counting by two, %i % 2 is always 0: there is only one buffer after all.
# EXPECT: race WAR 8 -> 6 next-iteration
kernel @double_buffer_even_steps waves=4 {
  shared %a : 2 x 512
  loop %i in 0..8 step 2 {
    write %a[%i % 2]
    barrier
    read %a[%i % 2]
  }
}
