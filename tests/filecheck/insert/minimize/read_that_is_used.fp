# The reads are complete when the waves meet, for their results have been used; the write is not.
# RUN: fencepost insert %s --strategy minimize
# RUN: fencepost insert %s --strategy eager
# RUN: fencepost insert %s
kernel @read_that_is_used waves=4 {
  shared %a : 64
  shared %b : 64
  %x = read %a
  write %b, %x
  workgroup_barrier
  write %a
  workgroup_barrier
  read %b
}
# CHECK:        workgroup_barrier
# CHECK-NEXT:   write %a
# CHECK-NEXT:   barrier  # write → read %b
# CHECK-NEXT:   read %b
