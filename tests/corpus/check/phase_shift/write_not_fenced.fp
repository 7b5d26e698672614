# The write leaves its stretch without a fence, and the late half's is not there when the early half reads it.
# EXPECT: race RAW 12 -> 9 next-iteration
kernel @write_not_fenced waves=4 {
  shared %a : 2 x 512
  if wave >= 2 {
    workgroup_barrier
  }
  loop %i in 0..4 {
    %x = read %a[%i % 2]
    barrier
    mma %x
    write %a[(%i + 1) % 2]
    workgroup_barrier
    compute
    barrier
  }
  if wave < 2 {
    workgroup_barrier
  }
}
