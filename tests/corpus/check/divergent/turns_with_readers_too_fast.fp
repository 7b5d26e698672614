# Without the last barrier the next writer does not wait for the readers.
# EXPECT: race WAR 11 -> 7 next-iteration
kernel @turns_with_readers_too_fast waves=4 {
  shared %a : 64
  loop %i in 0..4 {
    if wave == %i {
      write %a
      barrier
    } else {
      barrier
      read %a
    }
  }
}
