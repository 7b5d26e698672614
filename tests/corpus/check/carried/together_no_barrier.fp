# In the next iteration each stands where the other was.
# EXPECT: race RAW 7 -> 8 next-iteration
# EXPECT: race WAR 8 -> 7 next-iteration
kernel @together_no_barrier waves=4 {
  shared %a : 2 x 512
  loop %i in 0..? carry %x = 0, %y = 1 {
    write %a[%x]
    read %a[%y]
    next %y, %x
  }
}
