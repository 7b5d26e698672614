# Groups of copies: the count is one of groups, not of copies.
# RUN: fencepost insert %s --strategy minimize 2>&1 | filecheck %s --check-prefix=INSERT
# RUN: fencepost insert %s --strategy eager 2>&1 | filecheck %s --check-prefix=INSERT
# RUN: fencepost insert %s --strategy minimize | fencepost check - | filecheck %s --check-prefix=CLEAN
# RUN: fencepost insert %s --strategy eager | fencepost check - | filecheck %s --check-prefix=CLEAN
# RUN: fencepost insert %s --strategy walk | fencepost check - | filecheck %s --check-prefix=CLEAN
kernel @groups waves=4 {
  shared %a : 3 x 4096
  shared %b : 3 x 1024
  gather_to_lds %a[0]
  gather_to_lds %b[0]
  commit load
  gather_to_lds %a[1]
  gather_to_lds %b[1]
  commit load
  loop %i in 0..? {
    gather_to_lds %a[(%i + 2) % 3]
    gather_to_lds %b[(%i + 2) % 3]
    commit load
    %x = read %a[%i % 3]
    %y = read %b[%i % 3]
    mma %x, %y
  }
}
# INSERT:        loop %i in 0..? {
# INSERT-NEXT:     barrier load=1  #
# INSERT-NEXT:     gather_to_lds %a[(%i + 2) % 3]
# INSERT: @groups: 1 barrier inserted
# CLEAN: no race, no deadlock
