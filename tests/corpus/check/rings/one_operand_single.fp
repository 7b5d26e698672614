# One operand has two buffers, the other has one: the barrier at the top serves only the first.
# EXPECT: race WAR 9 -> 12
kernel @one_operand_single waves=4 {
  shared %a : 2 x 512
  shared %b : 512
  loop %i in 0..6 {
    barrier
    %x = read %a[%i % 2]
    %y = read %b
    mma %x, %y
    write %a[(%i + 1) % 2]
    write %b
  }
}
