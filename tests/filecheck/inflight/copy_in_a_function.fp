# A function starts a copy, and its caller reads: the wait stands in the caller, where the bytes are read.
# RUN: fencepost insert %s --strategy minimize 2>&1 | filecheck %s --check-prefix=INSERT
# RUN: fencepost insert %s --strategy eager 2>&1 | filecheck %s --check-prefix=INSERT
# RUN: fencepost insert %s --strategy minimize | fencepost check - | filecheck %s --check-prefix=CLEAN
# RUN: fencepost insert %s --strategy eager | fencepost check - | filecheck %s --check-prefix=CLEAN
# RUN: fencepost insert %s --strategy walk | fencepost check - | filecheck %s --check-prefix=CLEAN
func @load_tile {
  shared %tile : 4096 at 0
  tensor_load_to_lds %tile
}

kernel @caller waves=4 {
  shared %tile : 4096 at 1024
  call @load_tile at 1024
  compute
  read %tile
}
# INSERT:        call @load_tile at 1024
# INSERT-NEXT:   compute
# INSERT-NEXT:   barrier tensor=0  # copy → read %tile
# INSERT-NEXT:   read %tile
# INSERT: @caller: 1 barrier inserted
# CLEAN: no race, no deadlock
