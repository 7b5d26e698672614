# The loop leaves the last copy in flight; the epilogue reads it without a wait.
# EXPECT: race RAW 10 -> 13
kernel @pipeline_tail waves=4 {
  shared %a : 2 x 512
  gather_to_lds %a[0]
  loop %i in 0..4 {
    wait_count load=0
    barrier
    read %a[%i % 2]
    gather_to_lds %a[(%i + 1) % 2]
  }
  barrier
  read %a[0]
}
