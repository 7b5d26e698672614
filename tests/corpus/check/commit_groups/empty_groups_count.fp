# An empty group is a group: two of them behind the copy, and load=2 has waited for it.
# EXPECT: clean
kernel @empty_groups_count waves=4 {
  shared %a : 512
  gather_to_lds %a
  commit load
  commit load
  commit load
  barrier load=2
  read %a
}
