# The sentence for a write after a read.
# RUN: fencepost explain %s
kernel @write_after_read waves=4 {
  shared %a : 1024
  read %a
  barrier
  write %a
}
# CHECK:      write_after_read.fp:6:3: needed
# CHECK-NEXT: write-after-read: without this, wave 1's write of %a (line 7) can overwrite what wave 0's read of %a (line 5) has yet to read
