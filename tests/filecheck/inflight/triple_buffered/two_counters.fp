# Slots from two counters that run apart, as a pipeliner makes them: distinguished as well.
# RUN: fencepost insert %s --strategy minimize 2>&1 | filecheck %s --check-prefix=INSERT
# RUN: fencepost insert %s --strategy eager 2>&1 | filecheck %s --check-prefix=INSERT
# RUN: fencepost insert %s --strategy minimize | fencepost check - | filecheck %s --check-prefix=CLEAN
# RUN: fencepost insert %s --strategy eager | fencepost check - | filecheck %s --check-prefix=CLEAN
# RUN: fencepost insert %s --strategy walk | fencepost check - | filecheck %s --check-prefix=CLEAN
kernel @pipeline waves=8 {
  shared %a : 3 x 16384
  tensor_load_to_lds %a[0]
  tensor_load_to_lds %a[1]
  loop %i in 0..? carry %cons = 0, %prod = 2 {
    tensor_load_to_lds %a[%prod]
    %x = read %a[%cons]
    mma %x
    next (%cons + 1) % 3, (%prod + 1) % 3
  }
}
# INSERT:        loop %i in 0..? carry %cons = 0, %prod = 2 {
# INSERT-NEXT:     barrier tensor=1  #
# INSERT-NEXT:     tensor_load_to_lds %a[%prod]
# INSERT-NEXT:     %x = read %a[%cons]
# INSERT-NEXT:     mma %x
# INSERT-NEXT:     next (%cons + 1) % 3, (%prod + 1) % 3
# INSERT: @pipeline: 1 barrier inserted
# CLEAN: no race, no deadlock
