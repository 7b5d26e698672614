# Every barrier that insert puts in is needed, and explain finds the reason that stands beside it.
# RUN: fencepost insert %s --strategy minimize | fencepost explain -
kernel @inserted waves=4 {
  shared %a : 1024
  loop %i in 0..8 {
    write %a
    read %a
  }
}
# CHECK-NOT:  redundant
# CHECK:      <stdin>:4:5: needed
# CHECK-NEXT: write-after-read: without this, wave 1's write of %a (line 5) in iteration i+1 can overwrite what wave 0's read of %a (line 7) has yet to read
# CHECK-NEXT: <stdin>:6:5: needed
# CHECK-NEXT: read-after-write: without this, wave 1's read of %a (line 7) can miss wave 0's write of %a (line 5)
# CHECK-NOT:  {{redundant|warning}}
