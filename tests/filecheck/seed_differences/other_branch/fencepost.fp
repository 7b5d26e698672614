# A barrier on one side covers that side alone: the other gets its own, or both get one in front.
# RUN: fencepost insert %s --strategy minimize | filecheck %s --check-prefix=FRONT
# RUN: fencepost insert %s --strategy eager
# RUN: fencepost insert %s --strategy walk
# RUN: fencepost insert %s | fencepost check - | filecheck %s --check-prefix=CLEAN
kernel @other_branch waves=4 {
  shared %a : 1024
  write %a
  if %c {
    read %a
  } else {
    read %a
  }
}
# CHECK:        if %c {
# CHECK-NEXT:     barrier  # write → read %a
# CHECK-NEXT:     read %a
# CHECK-NEXT:   } else {
# CHECK-NEXT:     barrier  # write → read %a
# CHECK-NEXT:     read %a
# CHECK-NEXT:   }
# FRONT:        write %a
# FRONT-NEXT:   barrier  # write → read %a
# FRONT-NEXT:   if %c {
# FRONT-NEXT:     read %a
# FRONT-NEXT:   } else {
# FRONT-NEXT:     read %a
# FRONT-NEXT:   }
# CLEAN: no race, no deadlock
