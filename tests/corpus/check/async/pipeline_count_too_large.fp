# With two outstanding, the slot that is read next is one of them, from the first iteration on.
# EXPECT: race RAW 7 -> 12
# EXPECT: race RAW 8 -> 12
# EXPECT: race RAW 13 -> 12 next-iteration
kernel @pipeline_count_too_large waves=4 {
  shared %a : 3 x 512
  gather_to_lds %a[0]
  gather_to_lds %a[1]
  loop %i in 0..9 {
    wait_count load=2
    barrier
    read %a[%i % 3]
    gather_to_lds %a[(%i + 2) % 3]
  }
}
