# No wave is both below 2 and above 2.
# EXPECT: clean
kernel @contradiction waves=4 {
  shared %a : 1024
  write %a
  barrier
  if wave < 2 {
    if wave > 2 {
      write %a
    }
  }
  read %a
}
