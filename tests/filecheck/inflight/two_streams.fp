# Two engines, each waited for by its own count.
# RUN: fencepost insert %s --strategy minimize 2>&1 | filecheck %s --check-prefix=INSERT
# RUN: fencepost insert %s --strategy eager 2>&1 | filecheck %s --check-prefix=INSERT
# RUN: fencepost insert %s --strategy minimize | fencepost check - | filecheck %s --check-prefix=CLEAN
# RUN: fencepost insert %s --strategy eager | fencepost check - | filecheck %s --check-prefix=CLEAN
# RUN: fencepost insert %s --strategy walk | fencepost check - | filecheck %s --check-prefix=CLEAN
kernel @streams waves=4 {
  shared %a : 3 x 1024
  shared %b : 2 x 1024
  gather_to_lds %a[0]
  gather_to_lds %a[1]
  tensor_load_to_lds %b[0]
  loop %i in 0..? {
    %x = read %a[%i % 3]
    %y = read %b[%i % 2]
    mma %x, %y
    gather_to_lds %a[(%i + 2) % 3]
    tensor_load_to_lds %b[(%i + 1) % 2]
  }
}
# INSERT: barrier {{.*}}load=1 tensor=0  #
# INSERT: @streams: 1 barrier inserted
# CLEAN: no race, no deadlock
