# With a fourth slot the count is right, and three copies stay in flight.
# RUN: fencepost check %s
# RUN: fencepost insert %s 2>&1 | filecheck %s --check-prefix=SAME
kernel @ring waves=4 {
  shared %s : 4 x 1024
  tensor_load_to_lds %s[0]
  tensor_load_to_lds %s[1]
  tensor_load_to_lds %s[2]
  loop %i in 0..16 {
    tensor_load_to_lds %s[(%i + 3) % 4]
    wait_count tensor=3
    barrier
    read %s[%i % 4]
    barrier
  }
}
# CHECK: @ring: no race, no deadlock
# SAME: @ring: 0 barriers inserted
