# A wait in a loop that may not run: the kernel can end with its barrier signalled.
# RUN: fencepost insert %s --target gfx1201 2>&1
# EXIT: 2
# RUN: fencepost check %s | filecheck %s --check-prefix=HANG
# EXIT: 1
kernel @left_signalled waves=4 {
  shared %a : 1024
  signal
  loop %i in 0..? {
    wait
    read %a
    signal
  }
}
# CHECK: error[FP204]: the workgroup's barrier is signalled, and the kernel ends
# CHECK: = path: 8
# HANG:  signalled and not waited for
