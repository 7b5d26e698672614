# One id after the other, phase by phase.
# EXPECT: clean
kernel @id_reused waves=4 {
  shared %a : 1024
  write %a
  signal 1
  wait 1
  read %a
  signal 1
  wait 1
  write %a
}
