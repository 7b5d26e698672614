# A signal in a loop whose wait stands behind the loop: the second iteration signals again.
# RUN: fencepost insert %s --target gfx1201 2>&1
# EXIT: 2
# RUN: fencepost check %s | filecheck %s --check-prefix=HANG
# EXIT: 1
kernel @signalled_twice waves=4 {
  shared %a : 1024
  loop %i in 0..8 {
    signal
    write %a
  }
  wait
}
# CHECK: error[FP204]: the workgroup's barrier is signalled twice before it is waited for
# CHECK: = path: 9 → 9
# HANG:  signalled twice
