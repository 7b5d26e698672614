# A hazard across the back edge names the iteration that the consumer runs in.
# RUN: fencepost explain %s
kernel @next_iteration waves=4 {
  shared %a : 1024
  loop %i in 0..8 {
    barrier
    read %a
    barrier
    write %a
  }
}
# CHECK:      next_iteration.fp:6:5: needed
# CHECK-NEXT: read-after-write: without this, wave 1's read of %a (line 7) in iteration i+1 can miss wave 0's write of %a (line 9)
# CHECK:      next_iteration.fp:8:5: needed
# CHECK-NEXT: write-after-read: without this, wave 1's write of %a (line 9) can overwrite what wave 0's read of %a (line 7) has yet to read
