# The second barrier holds the producer back.
# EXPECT: clean
kernel @producer_consumer_fixed waves=2 {
  shared %a : 1024
  loop %i in 0..4 {
    if wave == 0 {
      write %a
    }
    barrier
    if wave == 1 {
      read %a
    }
    barrier
  }
}
