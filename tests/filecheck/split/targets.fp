# Which targets get split barriers by default, and which when asked.
# RUN: fencepost insert %s --target gfx1200 | filecheck %s --check-prefix=SPLIT
# RUN: fencepost insert %s --target gfx1201 | filecheck %s --check-prefix=SPLIT
# RUN: fencepost insert %s --target gfx1250 | filecheck %s --check-prefix=SPLIT
# RUN: fencepost insert %s --target sm_90 --strategy intersect | filecheck %s --check-prefix=SPLIT
# RUN: fencepost insert %s --target gfx1201 --strategy minimize | filecheck %s --check-prefix=WHOLE
# RUN: fencepost insert %s --target gfx1201 --strategy eager | filecheck %s --check-prefix=WHOLE
# RUN: fencepost insert %s --target gfx1201 --strategy walk | filecheck %s --check-prefix=WHOLE
# RUN: fencepost insert %s --target gfx942 | filecheck %s --check-prefix=WHOLE
# RUN: fencepost insert %s --target gfx942 --strategy intersect | filecheck %s --check-prefix=WHOLE
# RUN: fencepost insert %s --target sm_90 | filecheck %s --check-prefix=WHOLE
kernel @targets waves=4 {
  shared %a : 1024
  write %a
  mma
  mma
  mma
  mma
  mma
  mma
  mma
  mma
  read %a
}
# SPLIT:        write %a
# SPLIT-NEXT:   mma
# SPLIT:        signal  # write → read %a
# SPLIT-NEXT:   mma
# SPLIT:        wait  # write → read %a
# SPLIT-NEXT:   read %a
# WHOLE-NOT:    signal
# WHOLE:        barrier  # write → read %a
# WHOLE-NEXT:   read %a
