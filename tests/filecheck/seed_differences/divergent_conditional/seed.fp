# A barrier before the consumer, wherever that stands: here only half of the waves ever come to it.
# RUN: fencepost check %s
# EXIT: 1
kernel @divergent_conditional waves=4 {
  shared %a : 1024
  write %a
  if wave < 2 {
    barrier
    read %a
  }
}
# CHECK: error[FP002]
# CHECK: seed.fp: @divergent_conditional: {{.*}}1 deadlock
