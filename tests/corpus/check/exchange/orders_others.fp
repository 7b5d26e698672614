# The barrier inside orders everything around it too.
# EXPECT: clean
kernel @orders_others waves=4 {
  shared %s : 512
  shared %a : 512
  write %a
  exchange %s
  read %a
}
