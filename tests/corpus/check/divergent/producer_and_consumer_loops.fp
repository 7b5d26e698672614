# Each side has its own loop; their barriers meet one by one.
# EXPECT: clean
kernel @producer_and_consumer_loops waves=2 {
  shared %a : 64
  if wave == 0 {
    loop %i in 0..3 {
      write %a
      barrier
      barrier
    }
  } else {
    loop %j in 0..3 {
      barrier
      read %a
      barrier
    }
  }
}
