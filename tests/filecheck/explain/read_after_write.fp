# The sentence for a read after a write.
# RUN: fencepost explain %s
kernel @read_after_write waves=4 {
  shared %a : 1024
  write %a
  barrier
  read %a
}
# CHECK:      read_after_write.fp:6:3: needed
# CHECK-NEXT: read-after-write: without this, wave 1's read of %a (line 7) can miss wave 0's write of %a (line 5)
# CHECK-NOT:  warning
