# Copies straight into shared memory, two tiles ahead: one cluster, and a barrier that leaves the newest tile in flight.
# RUN: fencepost schedule %s --strategy two-pp-async --target gfx950
# RUN: fencepost schedule %s --strategy two-pp-async --target gfx950 | fencepost check - | filecheck %s --check-prefix=PROVEN
kernel @copies waves=8 {
  shared %a : 3 x 1024
  shared %b : 3 x 1024
  gather_to_lds %a[0]
  gather_to_lds %b[0]
  gather_to_lds %a[1]
  gather_to_lds %b[1]
  %zero = compute
  loop %i in 0..? carry %s = 0, %sum = %zero {
    gather_to_lds %a[(%s + 2) % 3]
    gather_to_lds %b[(%s + 2) % 3]
    %x0 = read %a[%s][0..512]
    %y0 = read %b[%s][0..512]
    %x1 = read %a[%s][512..1024]
    %y1 = read %b[%s][512..1024]
    %s0 = mma %x0, %y0, %sum
    %s1 = mma %x1, %y1, %s0
    next (%s + 1) % 3, %s1
  }
}
# CHECK:        %zero = compute
# CHECK-NEXT:   wait_count load=2
# CHECK-NEXT:   workgroup_barrier  # the first tile is there: copy → read
# CHECK-NEXT:   if wave >= 4 {
# CHECK-NEXT:     workgroup_barrier  # these waves run one barrier behind the others
# CHECK-NEXT:   }
# CHECK-NEXT:   loop %i in 0..? carry %s = 0, %sum = %zero {
# CHECK-NEXT:     %x0 = read %a[%s][0..512]
# CHECK-NEXT:     %x1 = read %a[%s][512..1024]
# CHECK-NEXT:     %y0 = read %b[%s][0..512]
# CHECK-NEXT:     %y1 = read %b[%s][512..1024]
# CHECK-NEXT:     sched_barrier
# CHECK-NEXT:     gather_to_lds %a[(%s + 2) % 3]
# CHECK-NEXT:     gather_to_lds %b[(%s + 2) % 3]
# CHECK-NEXT:     sched_barrier
# CHECK-NEXT:     barrier load=2  # reads are complete, and so is the next tile
# CHECK-NEXT:     sched_barrier
# CHECK-NEXT:     set_wave_prio 1
# CHECK-NEXT:     %s0 = mma %x0, %y0, %sum
# CHECK-NEXT:     %s1 = mma %x1, %y1, %s0
# CHECK-NEXT:     set_wave_prio 0
# CHECK-NEXT:     workgroup_barrier  # late reads → early copies, late copies → early reads: the second of two barriers
# CHECK-NEXT:     sched_barrier
# CHECK-NEXT:     next (%s + 1) % 3, %s1
# CHECK-NEXT:   }
# CHECK-NEXT:   if wave < 4 {
# CHECK-NEXT:     workgroup_barrier  # until the others have caught up
# CHECK-NEXT:   }
# CHECK-NEXT: }
# PROVEN: no race, no deadlock
