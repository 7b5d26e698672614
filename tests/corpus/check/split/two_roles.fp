# Producer and consumer on the two sides of a divergent conditional, each with its half of the pair.
# EXPECT: clean
kernel @two_roles waves=4 {
  shared %a : 1024
  if wave < 2 {
    write %a
    signal 1
    wait 1
  } else {
    signal 1
    wait 1
    read %a
  }
}
