# Triple-buffered, two stages, a barrier behind the wait: clean, and nothing is added or taken out.
# RUN: fencepost check %s
# RUN: fencepost insert %s --strategy minimize 2>&1 | filecheck %s --check-prefix=SAME
# RUN: fencepost insert %s --strategy eager 2>&1 | filecheck %s --check-prefix=SAME
# RUN: fencepost prune %s 2>&1 | filecheck %s --check-prefix=KEPT
kernel @pipeline waves=8 {
  shared %a : 3 x 16384
  shared %b : 3 x 16384
  tensor_load_to_lds %a[0]
  tensor_load_to_lds %b[0]
  tensor_load_to_lds %a[1]
  tensor_load_to_lds %b[1]
  wait_count tensor=2
  barrier
  loop %i in 0..62 {
    tensor_load_to_lds %a[(%i + 2) % 3]
    tensor_load_to_lds %b[(%i + 2) % 3]
    %x = read %a[%i % 3]
    %y = read %b[%i % 3]
    wait_count tensor=2
    barrier
    mma %x, %y
  }
}
# CHECK: @pipeline: no race, no deadlock
# SAME: @pipeline: 0 barriers inserted
# KEPT: @pipeline: 0 barriers and waits removed, 4 kept
