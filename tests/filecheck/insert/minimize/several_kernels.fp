# Every kernel of a file gets its own barriers, and what was done is said for each.
# RUN: fencepost insert %s --target gfx942 --strategy minimize 2>&1
kernel @first waves=4 {
  shared %a : 1024
  write %a
  read %a
}
kernel @second waves=4 {
  shared %a : 1024
  loop %i in 0..8 {
    read %a
    write %a
  }
}
# CHECK:      kernel @first
# CHECK:        barrier  # write → read %a
# CHECK-NEXT:   read %a
# CHECK-NEXT: }
# CHECK:      kernel @second
# CHECK:        barrier  # write → read %a, next iteration
# CHECK:      @first: 1 barrier inserted by minimize, executed once
# CHECK-NEXT: @second: 2 barriers inserted by minimize, executed about 16 times
