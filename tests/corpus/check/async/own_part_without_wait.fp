# Even its own part a wave may read only after a wait: the engine is another agent.
# EXPECT: race RAW 5 -> 6
kernel @own_part_without_wait waves=4 {
  shared %a : 4 x 256
  gather_to_lds %a[wave]
  read %a[wave]
}
