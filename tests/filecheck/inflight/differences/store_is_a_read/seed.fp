# A store from shared memory, listed as an async write and so ignored before a refill: it reads what the refill overwrites.
# RUN: fencepost check %s
# EXIT: 1
kernel @k waves=4 {
  shared %a : 1024
  tensor_store_from_lds %a
  tensor_load_to_lds %a
}
# CHECK: error[FP001]: wave 0 can start a copy into %a while wave 0's engine may still be reading it
# CHECK-NEXT: --> seed.fp:6:3 and seed.fp:7:3
# CHECK: @k: 1 race
