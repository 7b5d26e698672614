# Producer and consumer on two sides: the second write comes in the stretch in which the first is read.
# Between the sides there is no program order; the side that stands first in the text is named first.
# EXPECT: race RAW 9 -> 13
kernel @second_write_too_early waves=2 {
  shared %a : 1024
  if wave == 0 {
    write %a
    barrier
    write %a
    barrier
  } else {
    barrier
    read %a
    barrier
    read %a
  }
}
