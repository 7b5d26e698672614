# A pair inside a divergent conditional: not all waves signal.
# RUN: fencepost insert %s --target gfx1201 2>&1
# EXIT: 2
# RUN: fencepost check %s | filecheck %s --check-prefix=HANG
# EXIT: 1
kernel @divergent waves=4 {
  shared %a : 1024
  if wave < 2 {
    signal
    wait
  }
}
# CHECK: error[FP201]: signal inside a divergent conditional: not all waves meet it
# HANG:  never reaches
