# The producer announces before it has written.
# EXPECT: race RAW 7 -> 12
kernel @two_roles_too_early waves=4 {
  shared %a : 1024
  if wave < 2 {
    signal 1
    write %a
    wait 1
  } else {
    signal 1
    wait 1
    read %a
  }
}
