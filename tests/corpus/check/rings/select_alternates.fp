# A slot chosen by the parity of the iteration is a double buffer.
# EXPECT: clean
kernel @select_alternates waves=4 {
  shared %a : 2 x 512
  loop %i in 0..6 {
    write %a[select(%i % 2 == 0, 0, 1)]
    barrier
    read %a[select(%i % 2 == 0, 0, 1)]
  }
}
