# The workgroup has one barrier of its own; a plain barrier signals it a second time.
# EXPECT: deadlock signalled twice 6 7
kernel @barrier_inside_workgroup_pair waves=4 {
  shared %a : 1024
  write %a
  signal -1
  barrier
  wait -1
  read %a
}
