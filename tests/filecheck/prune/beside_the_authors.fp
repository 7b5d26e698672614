# A barrier beside the one that the author wrote covers nothing of its own.
# RUN: fencepost prune %s 2>&1
kernel @beside_the_authors waves=4 {
  shared %a : 1024
  write %a
  barrier
  barrier
  read %a
}
# CHECK:        write %a
# CHECK-NEXT:   barrier
# CHECK-NEXT:   read %a
# CHECK-NEXT: }
# CHECK:      @beside_the_authors: 1 barrier removed (line {{6|7}}), 1 kept
