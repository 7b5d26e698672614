# A fast wave overwrites what a slow one has not read yet.
# EXPECT: race WAR 5 -> 6
kernel @war waves=2 {
  shared %a : 1024
  read %a
  write %a
}
