# Of two exchanges the later one must win; one instance of an operation has no order among its waves.
# EXPECT: race RAW 7 -> 8
# EXPECT: race RAW 8 -> 7 next-iteration
kernel @exchanges waves=4 {
  shared %a : 64
  loop %i in 0..4 {
    atomic %a update=exchange
    atomic %a update=exchange
  }
}
