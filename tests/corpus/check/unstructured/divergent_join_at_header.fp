# The two sides join at the head of the loop.
# EXPECT: race RAW 12 -> 15
# EXPECT: race WAR 15 -> 12 next-iteration
kernel @divergent_join_at_header waves=4 {
  shared %a : 64
  br ^head
^head:
  cond_br %c, ^body, ^exit
^body:
  cond_br wave < 2, ^low, ^high
^low:
  write %a
  br ^head
^high:
  read %a
  br ^head
^exit:
  return
}
