# Signal fences and arrives, wait waits for all: a barrier in two parts.
# EXPECT: clean
kernel @pair waves=4 {
  shared %a : 1024
  write %a
  signal 1
  compute
  wait 1
  read %a
}
