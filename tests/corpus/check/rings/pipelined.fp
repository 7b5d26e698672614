# A prologue, a loop that reads one slot and fills the other, an epilogue that reads what came last.
# EXPECT: clean
kernel @pipelined waves=4 {
  shared %a : 2 x 512
  write %a[0]
  loop %i in 0..4 {
    barrier
    read %a[%i % 2]
    write %a[(%i + 1) % 2]
  }
  barrier
  read %a[0]
}
