# Two atomics that add: in any order the sum is the same.
# EXPECT: clean
kernel @same_update waves=4 {
  shared %a : 64
  loop %i in 0..4 {
    atomic %a update=add
    atomic %a update=add
  }
}
