# An engine must not arrive on an mbarrier that another wave is still making: also where completion of copies matters.
# RUN: fencepost insert %s --target sm_90
# RUN: fencepost insert %s --target sm_90 --strategy optimal
kernel @k waves=3 {
  shared %a : 2 x 64
  shared %full : 8
  shared %free : 8
  mbarrier_init %full count=1
  mbarrier_init %free count=1
  if wave == 0 {
    tensor_load_to_lds %a[0] arrives %full count=1
  }
  if wave == 1 {
    mbarrier_wait %full phase=0
    tensor_load_to_lds %a[0] arrives %free count=1
  }
  if wave < 1 {
    mbarrier_wait %free phase=0
    read %a[0]
  }
  write %full
}
# CHECK:      mbarrier_init %free
# CHECK-NEXT: barrier  # mbarrier_init → copy
# CHECK-NEXT: if wave == 0
