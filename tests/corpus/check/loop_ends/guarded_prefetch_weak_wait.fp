# One group too many may stay in flight: the one that is read next.
# EXPECT: race RAW 8 -> 15
# EXPECT: race RAW 10 -> 15
# EXPECT: race RAW 17 -> 15 next-iteration
kernel @guarded_prefetch_weak_wait waves=8 {
  shared %ring : 3 x 4096
  param %tiles
  gather_to_lds %ring[0]
  commit load
  gather_to_lds %ring[1]
  commit load
  loop %i in 0..%tiles {
    wait_count load=2
    barrier
    read %ring[%i % 3]
    if %i + 2 < %tiles {
      gather_to_lds %ring[(%i + 2) % 3]
    }
    commit load
  }
}
