# The write stands behind its own signal but before the wait for the others'.
# EXPECT: race WAR 8 -> 10
kernel @write_in_second_phase waves=4 {
  shared %a : 1024
  write %a
  signal 1
  wait 1
  read %a
  signal 1
  write %a
  wait 1
}
