# The counter is read while others already count on.
# EXPECT: race WAR 5 -> 6
kernel @after_read waves=4 {
  shared %a : 64
  read %a
  atomic %a
}
