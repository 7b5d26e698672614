# The user's barriers are enough, and stay as they are.
# RUN: fencepost insert %s 2>&1 | filecheck %s --check-prefix=SAME
# RUN: fencepost insert %s --strategy minimize | filecheck %s --check-prefix=INSERT
# RUN: fencepost insert %s --strategy eager | filecheck %s --check-prefix=INSERT
# RUN: fencepost insert %s --strategy walk | filecheck %s --check-prefix=INSERT
kernel @beside waves=4 {
  shared %a : 1024
  loop %i in 0..8 {
    write %a
    barrier  # mine
    read %a
    barrier  # mine
  }
}
# SAME: @beside: 0 barriers inserted
# INSERT:        loop %i in 0..8 {
# INSERT-NEXT:     write %a
# INSERT-NEXT:     barrier  # mine
# INSERT-NEXT:     read %a
# INSERT-NEXT:     barrier  # mine
# INSERT-NEXT:   }
