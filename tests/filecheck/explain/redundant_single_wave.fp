# One wave is in order with itself.
# RUN: fencepost explain %s
kernel @redundant_single_wave waves=1 {
  shared %a : 128
  write %a
  barrier
  read %a
}
# CHECK: redundant_single_wave.fp:6:3: redundant: a single wave needs no rendezvous
