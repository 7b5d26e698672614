# What is carried is the first read, over and over; nobody uses the later ones.
# EXPECT: race WAR 11 -> 9 next-iteration
kernel @value_of_another waves=4 {
  shared %a : 512
  %first = read %a
  loop %i in 0..8 carry %v = %first {
    compute %v
    workgroup_barrier
    write %a
    barrier
    %x = read %a
    next %v
  }
}
