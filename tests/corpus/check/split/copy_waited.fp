# Wait for the engine, then announce it.
# EXPECT: clean
kernel @copy_waited waves=4 {
  shared %a : 1024
  gather_to_lds %a
  wait_count load=0
  signal 1
  wait 1
  read %a
}
