# Four clusters; each quarter of the tile is written behind the cluster in which both halves have read it.
# RUN: fencepost schedule %s --strategy four-pp
# RUN: fencepost schedule %s --strategy four-pp | fencepost check - | filecheck %s --check-prefix=PROVEN
kernel @quarters waves=8 {
  shared %a : 1024
  shared %b : 1024
  write %a
  write %b
  %zero = compute
  loop %i in 0..? carry %sum = %zero {
    %ga = global_read
    %gb = global_read
    %gc = global_read
    %gd = global_read
    %ge = global_read
    %gf = global_read
    %gg = global_read
    %gh = global_read
    %x0 = read %a[0..256]
    %y0 = read %b[0..256]
    %x1 = read %a[256..512]
    %y1 = read %b[256..512]
    %x2 = read %a[512..768]
    %y2 = read %b[512..768]
    %x3 = read %a[768..1024]
    %y3 = read %b[768..1024]
    %s0 = mma %x0, %y0, %sum
    %s1 = mma %x1, %y1, %s0
    %s2 = mma %x2, %y2, %s1
    %s3 = mma %x3, %y3, %s2
    write %a[0..256], %ga
    write %a[256..512], %gb
    write %a[512..768], %gc
    write %a[768..1024], %gd
    write %b[0..256], %ge
    write %b[256..512], %gf
    write %b[512..768], %gg
    write %b[768..1024], %gh
    next %s3
  }
}
# CHECK:        %zero = compute
# CHECK-NEXT:   barrier  # the first tile is there: write → read
# CHECK-NEXT:   if wave >= 4 {
# CHECK-NEXT:     workgroup_barrier  # these waves run one barrier behind the others
# CHECK-NEXT:   }
# CHECK-NEXT:   loop %i in 0..? carry %sum = %zero {
# CHECK-NEXT:     %x0 = read %a[0..256]
# CHECK-NEXT:     %y0 = read %b[0..256]
# CHECK-NEXT:     sched_barrier
# CHECK-NEXT:     %ga = global_read
# CHECK-NEXT:     %ge = global_read
# CHECK-NEXT:     %gb = global_read
# CHECK-NEXT:     %gf = global_read
# CHECK-NEXT:     sched_barrier
# CHECK-NEXT:     barrier  # reads of the first quarter are complete: the early group writes it next
# CHECK-NEXT:     sched_barrier
# CHECK-NEXT:     set_wave_prio 1
# CHECK-NEXT:     %s0 = mma %x0, %y0, %sum
# CHECK-NEXT:     set_wave_prio 0
# CHECK-NEXT:     workgroup_barrier  # late reads → early writes of the first quarter, the second of two barriers
# CHECK-NEXT:     sched_barrier
# CHECK-NEXT:     %x1 = read %a[256..512]
# CHECK-NEXT:     %y1 = read %b[256..512]
# CHECK-NEXT:     sched_barrier
# CHECK-NEXT:     %gc = global_read
# CHECK-NEXT:     %gg = global_read
# CHECK-NEXT:     %gd = global_read
# CHECK-NEXT:     %gh = global_read
# CHECK-NEXT:     sched_barrier
# CHECK-NEXT:     write %a[0..256], %ga
# CHECK-NEXT:     write %b[0..256], %ge
# CHECK-NEXT:     sched_barrier
# CHECK-NEXT:     barrier  # reads of the second quarter are complete: the early group writes it next
# CHECK-NEXT:     sched_barrier
# CHECK-NEXT:     set_wave_prio 1
# CHECK-NEXT:     %s1 = mma %x1, %y1, %s0
# CHECK-NEXT:     set_wave_prio 0
# CHECK-NEXT:     workgroup_barrier  # late reads → early writes of the second quarter, the second of two barriers
# CHECK-NEXT:     sched_barrier
# CHECK-NEXT:     %x2 = read %a[512..768]
# CHECK-NEXT:     %y2 = read %b[512..768]
# CHECK-NEXT:     sched_barrier
# CHECK-NEXT:     write %a[256..512], %gb
# CHECK-NEXT:     write %b[256..512], %gf
# CHECK-NEXT:     sched_barrier
# CHECK-NEXT:     barrier  # reads of the third quarter are complete: the early group writes it next
# CHECK-NEXT:     sched_barrier
# CHECK-NEXT:     set_wave_prio 1
# CHECK-NEXT:     %s2 = mma %x2, %y2, %s1
# CHECK-NEXT:     set_wave_prio 0
# CHECK-NEXT:     workgroup_barrier  # late reads → early writes of the third quarter, the second of two barriers
# CHECK-NEXT:     sched_barrier
# CHECK-NEXT:     %x3 = read %a[768..1024]
# CHECK-NEXT:     %y3 = read %b[768..1024]
# CHECK-NEXT:     sched_barrier
# CHECK-NEXT:     write %a[512..768], %gc
# CHECK-NEXT:     write %b[512..768], %gg
# CHECK-NEXT:     sched_barrier
# CHECK-NEXT:     barrier  # reads of the fourth quarter are complete: the early group writes it next
# CHECK-NEXT:     sched_barrier
# CHECK-NEXT:     set_wave_prio 1
# CHECK-NEXT:     %s3 = mma %x3, %y3, %s2
# CHECK-NEXT:     set_wave_prio 0
# CHECK-NEXT:     workgroup_barrier  # late reads → early writes of the fourth quarter, the second of two barriers
# CHECK-NEXT:     sched_barrier
# CHECK-NEXT:     write %a[768..1024], %gd
# CHECK-NEXT:     write %b[768..1024], %gh
# CHECK-NEXT:     sched_barrier
# CHECK-NEXT:     next %s3
# CHECK-NEXT:   }
# CHECK-NEXT:   if wave < 4 {
# CHECK-NEXT:     workgroup_barrier  # until the others have caught up
# CHECK-NEXT:   }
# CHECK-NEXT: }
# PROVEN: no race, no deadlock
