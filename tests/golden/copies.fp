# Async copies straight into shared memory, waited for and published; the refill comes too early.
kernel @copies waves=4 {
  shared %a : 8192
  shared %b : 8192
  gather_to_lds %a
  tensor_load_to_lds %b
  wait_count load=0 tensor=0
  barrier  # both copies are there
  %x = read %a
  %y = read %b
  mma %x, %y
  gather_to_lds %a
}
