# Where the commit is skipped, no count waits for the copy.
# EXPECT: race RAW 5 -> 11
kernel @commit_on_one_side waves=4 {
  shared %a : 512
  gather_to_lds %a
  if %close {
    commit load
  }
  wait_count load=0
  barrier
  read %a
}
