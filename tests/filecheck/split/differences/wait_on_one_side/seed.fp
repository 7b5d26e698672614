# The wait on one side of a conditional: whoever takes the other side ends with the barrier signalled.
# RUN: fencepost check %s
# EXIT: 1
kernel @wait_on_one_side waves=4 {
  shared %a : 1024
  write %a
  signal
  if %c {
    wait
    read %a
  }
}
# CHECK: the kernel ends with the workgroup's barrier signalled and not waited for
