# The sentence for a write after a write.
# RUN: fencepost explain %s
kernel @write_after_write waves=4 {
  shared %a : 2 x 1024
  write %a[1]
  barrier
  write %a[1]
}
# CHECK:      write_after_write.fp:6:3: needed
# CHECK-NEXT: write-after-write: without this, wave 1's write of %a[1] (line 7) can be overwritten by wave 0's write of %a[1] (line 5), which should come before it
