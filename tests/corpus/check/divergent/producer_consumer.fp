# Wave 0 produces, wave 1 consumes; nothing keeps wave 0 from producing the next one too early.
# EXPECT: race WAR 11 -> 7 next-iteration waves 1,0
kernel @producer_consumer waves=2 {
  shared %a : 1024
  loop %i in 0..4 {
    if wave == 0 {
      write %a
    }
    barrier
    if wave == 1 {
      read %a
    }
  }
}
