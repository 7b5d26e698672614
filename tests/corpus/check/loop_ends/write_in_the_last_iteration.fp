# Nothing is read after the last iteration's write, and the loop goes round past no other: no barrier is needed.
# EXPECT: clean
kernel @write_in_the_last_iteration waves=4 {
  shared %a : 1024
  param %n
  loop %i in 0..%n {
    if %i == %n - 1 {
      barrier
      write %a
    } else {
      read %a
    }
  }
}
