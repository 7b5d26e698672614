# The barrier that protects the next iteration's write is skipped where the flag says so.
# EXPECT: race WAR 8 -> 6 next-iteration
kernel @in_a_loop waves=4 {
  shared %a : 1024
  loop %i in 0..4 {
    write %a
    barrier
    read %a
    if %c {
      barrier
    }
  }
}
