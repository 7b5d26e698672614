# In every iteration but the last there is one more group to leave in flight; both conditions know which that is.
# EXPECT: clean
kernel @last_iteration_waits_for_all waves=4 {
  shared %ring : 2 x 4096
  param %n
  gather_to_lds %ring[0]
  commit load
  loop %i in 0..%n {
    if %i + 1 < %n {
      gather_to_lds %ring[(%i + 1) % 2]
      commit load
    }
    if %n - 1 > %i {
      wait_count load=1
    } else {
      wait_count load=0
    }
    barrier
    read %ring[%i % 2]
    barrier
  }
}
