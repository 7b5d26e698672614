# A signal on one side of a conditional: whoever takes the other side waits for ever.
# RUN: fencepost insert %s --target gfx1201 2>&1
# EXIT: 2
# RUN: fencepost check %s | filecheck %s --check-prefix=HANG
# EXIT: 1
kernel @never_signalled waves=4 {
  shared %a : 1024
  write %a
  if %c {
    signal
  }
  wait
  read %a
}
# CHECK: error[FP204]: the workgroup's barrier is waited for and not signalled
# CHECK: = path: 12
# HANG:  which it has not signalled
