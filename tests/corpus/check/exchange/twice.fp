# The second one writes while other waves still read the first.
# EXPECT: race WAR 5 -> 6
kernel @twice waves=4 {
  shared %s : 512
  exchange %s
  exchange %s
}
