# A dependency that a loop carries means nothing by itself: the count leaves the newest copy in flight.
# EXPECT: race RAW 6 -> 9
# EXPECT: race RAW 11 -> 9 next-iteration
kernel @carried waves=4 {
  shared %a : 2 x 512
  %first = gather_to_lds %a[0]
  loop %i in 0..8 carry %t = %first {
    %w = wait_count after %t load=1
    read %a[%i % 2]
    barrier
    %n = gather_to_lds %a[(%i + 1) % 2]
    next %n
  }
}
