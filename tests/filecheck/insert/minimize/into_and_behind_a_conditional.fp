# A window that enters a conditional and one that ends behind it share a barrier in front.
# RUN: fencepost insert %s --strategy minimize 2>&1
# RUN: fencepost insert %s --strategy eager 2>&1 | filecheck %s --check-prefix=EAGER
kernel @into_and_behind_a_conditional waves=4 {
  shared %a : 1024
  write %a
  if %c {
    read %a
  }
  read %a
}
# CHECK:        write %a
# CHECK-NEXT:   barrier  # write → read %a
# CHECK-NEXT:   if %c {
# CHECK-NEXT:     read %a
# CHECK-NEXT:   }
# CHECK-NEXT:   read %a
# CHECK:      1 barrier inserted by minimize, executed once
# EAGER: 2 barriers inserted by eager, executed about 1.5 times
