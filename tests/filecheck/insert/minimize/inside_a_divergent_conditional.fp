# Two waves of four would have to meet inside a divergent conditional: no barrier can do that, and insert says so.
# RUN: fencepost insert %s --target gfx942 --strategy minimize 2>&1
# EXIT: 1
# RUN: fencepost insert %s --target gfx942 --strategy eager 2>&1
# EXIT: 1
# RUN: fencepost insert %s --target gfx942 --strategy walk 2>&1
# EXIT: 1
kernel @inside_a_divergent_conditional waves=4 {
  shared %a : 1024
  if wave < 2 {
    write %a
    read %a
  }
}
# CHECK-NOT:  kernel @inside
# CHECK:      error[FP203]: no barrier can order these accesses: it would stand inside a divergent conditional
# CHECK:      if wave < 2 {
# CHECK-NEXT: ^^^^^^^^^^^ only some waves take each side
# CHECK-NEXT: write %a
# CHECK-NEXT: ^^^^^^^^ this access
# CHECK-NEXT: read %a
# CHECK-NEXT: ^^^^^^^ and this one can meet
# CHECK:      = help: end the conditional between the two, or let a single wave do both
