# A single wave needs no barrier at all.
# RUN: fencepost prune %s
kernel @single_wave waves=1 {
  shared %a : 1024
  write %a
  barrier
  read %a
}
# CHECK:        write %a
# CHECK-NEXT:   read %a
# CHECK-NEXT: }
