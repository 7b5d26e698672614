# Ordered the other way round; between the sides there is no program order, so that is fine too.
# EXPECT: clean
kernel @balanced_the_other_way waves=4 {
  shared %a : 1024
  if wave < 2 {
    barrier
    write %a
  } else {
    read %a
    barrier
  }
}
