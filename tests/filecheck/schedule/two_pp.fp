# Two clusters of matrix instructions with the local writes between them; half of the waves run one barrier behind.
# An access of one half and a conflicting one of the other are two barriers apart.
# RUN: fencepost schedule %s --strategy two-pp
# RUN: fencepost schedule %s --strategy two-pp | fencepost check - | filecheck %s --check-prefix=PROVEN
kernel @halves waves=8 {
  shared %a : 1024
  shared %b : 1024
  write %a
  write %b
  %zero = compute
  loop %i in 0..? carry %sum = %zero {
    %ga = global_read
    %gb = global_read
    %x0 = read %a[0..512]
    %y0 = read %b[0..512]
    %x1 = read %a[512..1024]
    %y1 = read %b[512..1024]
    %s0 = mma %x0, %y0, %sum
    %s1 = mma %x1, %y1, %s0
    write %a, %ga
    write %b, %gb
    next %s1
  }
  read %a
  read %b
}
# CHECK:        %zero = compute
# CHECK-NEXT:   barrier  # the first tile is there: write → read
# CHECK-NEXT:   if wave >= 4 {
# CHECK-NEXT:     workgroup_barrier  # these waves run one barrier behind the others
# CHECK-NEXT:   }
# CHECK-NEXT:   loop %i in 0..? carry %sum = %zero {
# CHECK-NEXT:     %x0 = read %a[0..512]
# CHECK-NEXT:     %y0 = read %b[0..512]
# CHECK-NEXT:     sched_barrier
# CHECK-NEXT:     %ga = global_read
# CHECK-NEXT:     sched_barrier
# CHECK-NEXT:     %x1 = read %a[512..1024]
# CHECK-NEXT:     %y1 = read %b[512..1024]
# CHECK-NEXT:     sched_barrier
# CHECK-NEXT:     %gb = global_read
# CHECK-NEXT:     barrier  # reads are complete: the early group writes after the next barrier
# CHECK-NEXT:     sched_barrier
# CHECK-NEXT:     set_wave_prio 1
# CHECK-NEXT:     %s0 = mma %x0, %y0, %sum
# CHECK-NEXT:     set_wave_prio 0
# CHECK-NEXT:     workgroup_barrier  # late reads → early writes, the second of two barriers
# CHECK-NEXT:     sched_barrier
# CHECK-NEXT:     write %a, %ga
# CHECK-NEXT:     write %b, %gb
# CHECK-NEXT:     barrier  # writes are complete: the early group reads after the next barrier
# CHECK-NEXT:     sched_barrier
# CHECK-NEXT:     set_wave_prio 1
# CHECK-NEXT:     %s1 = mma %x1, %y1, %s0
# CHECK-NEXT:     set_wave_prio 0
# CHECK-NEXT:     workgroup_barrier  # late writes → early reads, the second of two barriers
# CHECK-NEXT:     sched_barrier
# CHECK-NEXT:     next %s1
# CHECK-NEXT:   }
# CHECK-NEXT:   if wave < 4 {
# CHECK-NEXT:     workgroup_barrier  # until the others have caught up
# CHECK-NEXT:   }
# CHECK-NEXT:   read %a
# CHECK-NEXT:   read %b
# CHECK-NEXT: }
# PROVEN: no race, no deadlock
