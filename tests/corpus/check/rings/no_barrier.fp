# Two slots without any barrier: both hazards appear one iteration on, none within an iteration.
# EXPECT: race RAW 7 -> 8 next-iteration
# EXPECT: race WAR 8 -> 7 next-iteration
kernel @no_barrier waves=4 {
  shared %a : 2 x 512
  loop %i in 0..8 {
    write %a[%i % 2]
    read %a[(%i + 1) % 2]
  }
}
