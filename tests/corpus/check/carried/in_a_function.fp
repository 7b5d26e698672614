# The function's %x and the kernel's %x have nothing to do with each other.
# EXPECT: clean
func @fill {
  shared %s : 2 x 64
  loop %j in 0..2 carry %x = 0 {
    write %s[%x]
    next %x + 1
  }
}
kernel @in_a_function waves=4 {
  shared %a : 2 x 64
  loop %i in 0..? carry %x = 0 {
    write %a[%x]
    call @fill
    barrier
    read %a[%x]
    next %x ^ 1
  }
}
