# Reads never conflict with each other.
# EXPECT: clean
kernel @reads_only waves=4 {
  shared %a : 1024
  read %a
  read %a
}
