# Waits alone: other waves know nothing of them, and refills meet reads. One barrier an iteration is enough for both.
# RUN: fencepost check --all %s
# EXIT: 1
# RUN: fencepost insert %s --strategy minimize 2>&1 | filecheck %s --check-prefix=INSERT
# RUN: fencepost insert %s --strategy minimize | fencepost check - | filecheck %s --check-prefix=CLEAN
# RUN: fencepost insert %s --strategy eager | fencepost check - | filecheck %s --check-prefix=CLEAN
# RUN: fencepost insert %s --strategy walk | fencepost check - | filecheck %s --check-prefix=CLEAN
kernel @pipeline waves=8 {
  shared %a : 3 x 16384
  shared %b : 3 x 16384
  tensor_load_to_lds %a[0]
  tensor_load_to_lds %b[0]
  tensor_load_to_lds %a[1]
  tensor_load_to_lds %b[1]
  wait_count tensor=2
  loop %i in 0..62 {
    tensor_load_to_lds %a[(%i + 2) % 3]
    tensor_load_to_lds %b[(%i + 2) % 3]
    %x = read %a[%i % 3]
    %y = read %b[%i % 3]
    wait_count tensor=2
    mma %x, %y
  }
}
# CHECK: error[FP001]: wave 1 can start a copy into %a[(%i + 2) % 3] before wave 0 has read %a[%i % 3], which shares bytes with it
# CHECK-NEXT: --> without_a_barrier.fp:19:5 and without_a_barrier.fp:17:5
# CHECK: error[FP001]: wave 1 can read %a[%i % 3] while wave 0's copy into it is under way
# CHECK: = why: the copy was waited for, but no barrier after that wait tells the other waves
# CHECK: @pipeline: 8 races
# INSERT:        loop %i in 0..62 {
# INSERT-NEXT:     barrier  #
# INSERT-NEXT:     tensor_load_to_lds %a[(%i + 2) % 3]
# INSERT-NEXT:     tensor_load_to_lds %b[(%i + 2) % 3]
# INSERT-NEXT:     %x = read %a[%i % 3]
# INSERT-NEXT:     %y = read %b[%i % 3]
# INSERT-NEXT:     wait_count tensor=2
# INSERT-NEXT:     mma %x, %y
# INSERT: @pipeline: 1 barrier inserted
# CLEAN: no race, no deadlock
