# Neither waits nor barriers: one barrier, which leaves the two latest copies in flight.
# RUN: fencepost insert %s --strategy minimize 2>&1 | filecheck %s --check-prefix=INSERT
# RUN: fencepost insert %s --strategy eager 2>&1 | filecheck %s --check-prefix=INSERT
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
  loop %i in 0..62 {
    tensor_load_to_lds %a[(%i + 2) % 3]
    tensor_load_to_lds %b[(%i + 2) % 3]
    %x = read %a[%i % 3]
    %y = read %b[%i % 3]
    mma %x, %y
  }
}
# INSERT:        loop %i in 0..62 {
# INSERT-NEXT:     barrier tensor=2  #
# INSERT-NEXT:     tensor_load_to_lds %a[(%i + 2) % 3]
# INSERT-NEXT:     tensor_load_to_lds %b[(%i + 2) % 3]
# INSERT-NEXT:     %x = read %a[%i % 3]
# INSERT-NEXT:     %y = read %b[%i % 3]
# INSERT-NEXT:     mma %x, %y
# INSERT: @pipeline: 1 barrier inserted
# CLEAN: no race, no deadlock
