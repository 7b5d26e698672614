# Waves 2 and 3 leave the barrier signalled.
# EXPECT: deadlock left signalled 4
kernel @wait_of_some_waves waves=4 {
  signal 1
  if wave < 2 {
    wait 1
  }
}
