# One barrier an iteration on each side: the next write comes in the stretch in which the last one is read.
# The write's side stands first in the text, so it is named first.
# EXPECT: race RAW 8 -> 14
kernel @producer_loop_too_fast waves=2 {
  shared %a : 64
  if wave == 0 {
    loop %i in 0..3 {
      write %a
      barrier
    }
  } else {
    loop %j in 0..3 {
      barrier
      read %a
    }
  }
}
