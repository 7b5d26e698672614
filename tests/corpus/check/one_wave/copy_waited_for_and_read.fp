# The same with the wait.
# EXPECT: clean
kernel @copy_waited_for_and_read waves=4 {
  shared %a : 64
  if wave == 1 {
    gather_to_lds %a
    wait_count load=0
    read %a
  }
}
