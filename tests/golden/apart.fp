# Half of the waves never reach the barrier.
kernel @apart waves=4 {
  shared %s : 64
  write %s
  if wave < 2 {
    barrier
  }
  read %s
}
