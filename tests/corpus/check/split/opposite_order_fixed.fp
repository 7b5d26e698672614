# Both signal both before they wait.
# EXPECT: clean
kernel @opposite_order_fixed waves=2 {
  if wave == 0 {
    signal 1
    signal 2
    wait 1
    wait 2
  } else {
    signal 2
    signal 1
    wait 2
    wait 1
  }
}
