# The second write also races with the first one, but that race lies behind the read on the same path:
# whoever orders the two pairs below has ordered it too.
# EXPECT: race RAW 7 -> 8
# EXPECT: race WAR 8 -> 9
kernel @first_conflict_only waves=4 {
  shared %a : 1024
  write %a
  read %a
  write %a
}
