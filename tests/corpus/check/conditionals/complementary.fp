# Two conditions on the loop variable that cannot both fail.
# EXPECT: clean
kernel @complementary waves=4 {
  shared %a : 1024
  loop %i in 0..4 {
    write %a
    if %i < 2 {
      barrier
    }
    if %i >= 2 {
      barrier
    }
    read %a
    barrier
  }
}
