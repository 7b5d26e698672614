# With one tile there is nothing to prefetch: the prologue and the loop agree about how many there are.
# EXPECT: clean
kernel @prologue_of_two waves=4 {
  shared %ring : 2 x 4096
  param %n
  gather_to_lds %ring[0]
  commit load
  if %n > 1 {
    gather_to_lds %ring[1]
    commit load
  }
  loop %i in 0..%n {
    if %i + 1 < %n {
      wait_count load=1
    } else {
      wait_count load=0
    }
    barrier
    read %ring[%i % 2]
    barrier
    if %i + 2 < %n {
      gather_to_lds %ring[%i % 2]
      commit load
    }
  }
}
