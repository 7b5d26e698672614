# The second condition holds in one iteration too many: in the last one the newest group is the one that is read.
# EXPECT: race RAW 7 -> 20
# EXPECT: race RAW 11 -> 20 next-iteration
kernel @last_iteration_waits_too_early waves=4 {
  shared %ring : 2 x 4096
  param %n
  gather_to_lds %ring[0]
  commit load
  loop %i in 0..%n {
    if %i + 1 < %n {
      gather_to_lds %ring[(%i + 1) % 2]
      commit load
    }
    if %i < %n {
      wait_count load=1
    } else {
      wait_count load=0
    }
    barrier
    read %ring[%i % 2]
    barrier
  }
}
