# It has its barrier inside.
# EXPECT: clean
kernel @alone waves=4 {
  shared %s : 512
  exchange %s
}
