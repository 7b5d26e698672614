# An atomic is an update, on either side.
# RUN: fencepost explain %s
kernel @update waves=4 {
  shared %a : 1024
  write %a
  barrier
  atomic %a
  barrier
  read %a
}
# CHECK:      update.fp:6:3: needed
# CHECK-NEXT: read-after-write: without this, wave 1's update of %a (line 7) can miss wave 0's write of %a (line 5)
# CHECK:      update.fp:8:3: needed
# CHECK-NEXT: read-after-write: without this, wave 1's read of %a (line 9) can miss wave 0's update of %a (line 7)
