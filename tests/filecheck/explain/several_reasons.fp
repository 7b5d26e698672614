# A barrier lists everything that it alone covers, nearest consumer first.
# RUN: fencepost explain %s
kernel @several_reasons waves=4 {
  shared %a : 1024
  shared %b : 1024
  write %a
  read %b
  barrier
  write %b
  read %a
}
# CHECK:      several_reasons.fp:8:3: needed
# CHECK-NEXT: write-after-read: without this, wave 1's write of %b (line 9) can overwrite what wave 0's read of %b (line 7) has yet to read
# CHECK-NEXT: read-after-write: without this, wave 1's read of %a (line 10) can miss wave 0's write of %a (line 6)
