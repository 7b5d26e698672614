# The same ring with the parity of the iteration where that of the lap round the ring is meant.
kernel @wrong_phase waves=5 {
  shared %a : 2 x 1024
  shared %full : 2 x 8
  shared %empty : 2 x 8
  mbarrier_init %full[0] count=1
  mbarrier_init %full[1] count=1
  mbarrier_init %empty[0] count=4
  mbarrier_init %empty[1] count=4
  barrier
  if wave < 4 {
    loop %i in 0..8 {
      mbarrier_wait %full[%i % 2] phase=%i % 2
      %x = read %a[%i % 2]
      mma %x
      mbarrier_arrive %empty[%i % 2]
    }
  } else {
    loop %j in 0..8 {
      mbarrier_wait %empty[%j % 2] phase=(%j // 2 + 1) % 2
      mbarrier_expect %full[%j % 2] bytes=1024
      tensor_load_to_lds %a[%j % 2] arrives %full[%j % 2] bytes=1024
    }
  }
}
