# A loop that is entered in two places: every way round it crosses the barrier before the write.
# RUN: fencepost insert %s --target gfx942 --strategy eager
# RUN: fencepost insert %s --target gfx942 --strategy eager | fencepost check - | filecheck %s --check-prefix=CLEAN
kernel @irreducible waves=4 {
  shared %a : 1024
  cond_br %c, ^one, ^two
^one:
  write %a
  br ^two
^two:
  cond_br %d, ^one, ^end
^end:
  return
}
# CHECK:      ^one:
# CHECK-NEXT:   barrier  # write → write %a, next iteration
# CHECK-NEXT:   write %a
# CHECK-NEXT:   br ^two
# CLEAN:      @irreducible: no race, no deadlock
