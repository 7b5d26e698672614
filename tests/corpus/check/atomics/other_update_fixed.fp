# The same with a barrier.
# EXPECT: clean
kernel @other_update_fixed waves=4 {
  shared %a : 64
  atomic %a update=add
  barrier
  atomic %a update=max
}
