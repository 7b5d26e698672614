# Three slots without barriers and waits: the copy that was just started has to be waited for.
# RUN: fencepost insert %s --strategy minimize 2>&1 | filecheck %s --check-prefix=INSERT
# RUN: fencepost insert %s --strategy minimize | fencepost check - | filecheck %s --check-prefix=CLEAN
# RUN: fencepost insert %s --strategy eager | fencepost check - | filecheck %s --check-prefix=CLEAN
# RUN: fencepost insert %s --strategy walk | fencepost check - | filecheck %s --check-prefix=CLEAN
kernel @ring waves=4 {
  shared %s : 3 x 1024
  tensor_load_to_lds %s[0]
  tensor_load_to_lds %s[1]
  tensor_load_to_lds %s[2]
  loop %i in 0..16 {
    tensor_load_to_lds %s[(%i + 3) % 3]
    read %s[%i % 3]
  }
}
# INSERT:        loop %i in 0..16 {
# INSERT-NEXT:     tensor_load_to_lds %s[(%i + 3) % 3]
# INSERT-NEXT:     barrier tensor=0  #
# INSERT-NEXT:     read %s[%i % 3]
# INSERT-NEXT:   }
# INSERT: @ring: 1 barrier inserted
# CLEAN: no race, no deadlock
