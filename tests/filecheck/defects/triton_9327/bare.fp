# Without barriers: one goes in behind the call, none in front of it.
# RUN: fencepost insert %s --strategy minimize 2>&1 | filecheck %s --check-prefix=INSERT
# RUN: fencepost insert %s --strategy minimize | fencepost check - | filecheck %s --check-prefix=CLEAN
# RUN: fencepost insert %s --strategy eager | fencepost check - | filecheck %s --check-prefix=CLEAN
# RUN: fencepost insert %s --strategy walk | fencepost check - | filecheck %s --check-prefix=CLEAN
func @f {
  shared %scratch : 256 at 0
  write %scratch
}

kernel @caller waves=4 {
  shared %big : 1024 at 0
  shared %tail : 256 at 1024
  write %big
  call @f at 1024
  read %tail
}
# INSERT:        write %big
# INSERT-NEXT:   call @f at 1024
# INSERT-NEXT:   barrier  # write → read %scratch/%tail
# INSERT-NEXT:   read %tail
# INSERT-NEXT: }
# INSERT: @caller: 1 barrier inserted
# CLEAN: no race, no deadlock
