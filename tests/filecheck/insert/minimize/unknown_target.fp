# An unknown target is an error that names the known ones.
# RUN: fencepost insert %s --target gfx9999 2>&1
# EXIT: 2
kernel @unknown_target waves=4 {
  shared %a : 1024
  write %a
  read %a
}
# CHECK: error[FP110]: unknown target 'gfx9999'
# CHECK: known targets: gfx90a, gfx942, gfx950, gfx1200, gfx1201, gfx1250, sm_80, sm_90, sm_100
