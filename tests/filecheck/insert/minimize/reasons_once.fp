# Hazards that read alike are named once: both reads wait for the same write.
# RUN: fencepost insert %s --target gfx942 --strategy minimize
kernel @reasons_once waves=4 {
  shared %a : 1024
  write %a
  read %a
  read %a
}
# CHECK:        barrier  # write → read %a{{$}}
# CHECK-NEXT:   read %a
# CHECK-NEXT:   read %a
# CHECK-NEXT: }
