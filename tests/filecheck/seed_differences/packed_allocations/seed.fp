# Each allocation is looked at by itself: that the second one stands on bytes of the first goes unseen.
# RUN: fencepost check %s
# EXIT: 1
kernel @packed_allocations waves=4 {
  shared %k : 1024 at 0
  shared %v : 1024 at 512
  write %k
  barrier
  read %k
  write %v
  barrier
  read %v
}
# CHECK: error[FP001]: wave 1 can write %v before wave 0 has read %k, which shares bytes with it
# CHECK: --> seed.fp:9:3 and seed.fp:10:3
# CHECK: seed.fp: @packed_allocations: 1 race
