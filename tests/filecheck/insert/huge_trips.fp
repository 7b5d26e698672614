# Costs beyond what a floating-point number holds: 10 to the 162nd runs of the innermost body.
# RUN: fencepost insert %s --strategy auto
# RUN: fencepost insert %s --strategy optimal
kernel @k waves=4 {
  shared %a : 64
  loop %i0 in 0..999999999999999999 {
    loop %i1 in 0..999999999999999999 {
      loop %i2 in 0..999999999999999999 {
        loop %i3 in 0..999999999999999999 {
          loop %i4 in 0..999999999999999999 {
            loop %i5 in 0..999999999999999999 {
              loop %i6 in 0..999999999999999999 {
                loop %i7 in 0..999999999999999999 {
                  loop %i8 in 0..999999999999999999 {
                    write %a
                    read %a
                  }
                }
              }
            }
          }
        }
      }
    }
  }
}
# CHECK:      loop %i8
# CHECK-NEXT:   barrier
# CHECK-NEXT:   write %a
# CHECK-NEXT:   barrier
# CHECK-NEXT:   read %a
