# An engine that reads: the slot may be written again once the store before last is done.
# RUN: fencepost insert %s --strategy minimize 2>&1 | filecheck %s --check-prefix=INSERT
# RUN: fencepost insert %s --strategy eager 2>&1 | filecheck %s --check-prefix=INSERT
# RUN: fencepost insert %s --strategy minimize | fencepost check - | filecheck %s --check-prefix=CLEAN
# RUN: fencepost insert %s --strategy eager | fencepost check - | filecheck %s --check-prefix=CLEAN
# RUN: fencepost insert %s --strategy walk | fencepost check - | filecheck %s --check-prefix=CLEAN
kernel @store waves=4 {
  shared %out : 2 x 4096
  loop %i in 0..? {
    %x = compute
    write %out[%i % 2], %x
    tensor_store_from_lds %out[%i % 2]
  }
}
# INSERT:          %x = compute
# INSERT-NEXT:     barrier tensor=1  #
# INSERT-NEXT:     write %out[%i % 2], %x
# INSERT-NEXT:     barrier  #
# INSERT-NEXT:     tensor_store_from_lds %out[%i % 2]
# INSERT: @store: 2 barriers inserted
# CLEAN: no race, no deadlock
