# The copies of the last two iterations are left out, and their groups are empty: the count is right all the same.
# EXPECT: clean
kernel @guarded_prefetch waves=8 {
  shared %ring : 3 x 4096
  param %tiles
  gather_to_lds %ring[0]
  commit load
  gather_to_lds %ring[1]
  commit load
  loop %i in 0..%tiles {
    wait_count load=1
    barrier
    read %ring[%i % 3]
    if %i + 2 < %tiles {
      gather_to_lds %ring[(%i + 2) % 3]
    }
    commit load
  }
}
