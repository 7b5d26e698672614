# A hazard from in front of the loop is paid for in every iteration, because the first consumer stands inside.
# RUN: fencepost insert %s --target gfx942 --strategy eager 2>&1
# RUN: fencepost insert %s --target gfx942 --strategy minimize 2>&1 | filecheck %s --check-prefix=MINIMIZE
kernel @every_iteration waves=4 {
  shared %a : 1024
  write %a
  loop %i in 0..64 {
    %x = read %a
    mma %x
  }
}
# CHECK:        loop %i in 0..64 {
# CHECK-NEXT:     barrier  # write → read %a
# CHECK-NEXT:     %x = read %a
# CHECK:      1 barrier inserted by eager, executed about 64 times
# MINIMIZE:      barrier  # write → read %a
# MINIMIZE-NEXT: loop %i in 0..64 {
# MINIMIZE-NEXT:   %x = read %a
# MINIMIZE:      1 barrier inserted by minimize, executed once
