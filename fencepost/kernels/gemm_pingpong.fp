# Matrix multiplication with prefetch, tile 128 x 256 x 64, 8 waves, instructions of 32 x 32 x 8: what
# `fencepost schedule` turns into ping-pong. While a tile is multiplied, the next one comes into registers; it is
# written over the first at the end of the iteration.
kernel @gemm_pingpong waves=8 {
  shared %a : 16384
  shared %b : 32768
  %g0 = global_read
  %g1 = global_read
  %g2 = global_read
  %g3 = global_read
  %g4 = global_read
  %g5 = global_read
  write %a[0..8192], %g0
  write %a[8192..16384], %g1
  write %b[0..8192], %g2
  write %b[8192..16384], %g3
  write %b[16384..24576], %g4
  write %b[24576..32768], %g5
  %c0 = compute
  loop %i in 0..? carry %sum0 = %c0, %sum1 = %c0, %sum2 = %c0, %sum3 = %c0 {
    %g6 = global_read
    %g7 = global_read
    %g8 = global_read
    %g9 = global_read
    %g10 = global_read
    %g11 = global_read
    %r0 = read %a[0..4096]
    %r3 = read %a[0..4096]
    %r1 = read %b[0..8192]
    %r2 = read %b[0..8192]
    %r4 = read %a[4096..8192]
    %r7 = read %a[4096..8192]
    %r5 = read %b[8192..16384]
    %r6 = read %b[8192..16384]
    %r8 = read %a[8192..12288]
    %r11 = read %a[8192..12288]
    %r9 = read %b[16384..24576]
    %r10 = read %b[16384..24576]
    %r12 = read %a[12288..16384]
    %r15 = read %a[12288..16384]
    %r13 = read %b[24576..32768]
    %r14 = read %b[24576..32768]
    %m0 = mma %r0, %r1, %sum0
    %m1 = mma %r0, %r2, %sum1
    %m2 = mma %r3, %r1, %sum2
    %m3 = mma %r3, %r2, %sum3
    %m4 = mma %r0, %r1, %m0
    %m5 = mma %r0, %r2, %m1
    %m6 = mma %r3, %r1, %m2
    %m7 = mma %r3, %r2, %m3
    %m8 = mma %r4, %r5, %m4
    %m9 = mma %r4, %r6, %m5
    %m10 = mma %r7, %r5, %m6
    %m11 = mma %r7, %r6, %m7
    %m12 = mma %r4, %r5, %m8
    %m13 = mma %r4, %r6, %m9
    %m14 = mma %r7, %r5, %m10
    %m15 = mma %r7, %r6, %m11
    %m16 = mma %r8, %r9, %m12
    %m17 = mma %r8, %r10, %m13
    %m18 = mma %r11, %r9, %m14
    %m19 = mma %r11, %r10, %m15
    %m20 = mma %r8, %r9, %m16
    %m21 = mma %r8, %r10, %m17
    %m22 = mma %r11, %r9, %m18
    %m23 = mma %r11, %r10, %m19
    %m24 = mma %r12, %r13, %m20
    %m25 = mma %r12, %r14, %m21
    %m26 = mma %r15, %r13, %m22
    %m27 = mma %r15, %r14, %m23
    %m28 = mma %r12, %r13, %m24
    %m29 = mma %r12, %r14, %m25
    %m30 = mma %r15, %r13, %m26
    %m31 = mma %r15, %r14, %m27
    write %a[0..8192], %g6
    write %a[8192..16384], %g7
    write %b[0..8192], %g8
    write %b[8192..16384], %g9
    write %b[16384..24576], %g10
    write %b[24576..32768], %g11
    next %m28, %m29, %m30, %m31
  }
  %r16 = read %a[0..4096]
  %r19 = read %a[0..4096]
  %r17 = read %b[0..8192]
  %r18 = read %b[0..8192]
  %r20 = read %a[4096..8192]
  %r23 = read %a[4096..8192]
  %r21 = read %b[8192..16384]
  %r22 = read %b[8192..16384]
  %r24 = read %a[8192..12288]
  %r27 = read %a[8192..12288]
  %r25 = read %b[16384..24576]
  %r26 = read %b[16384..24576]
  %r28 = read %a[12288..16384]
  %r31 = read %a[12288..16384]
  %r29 = read %b[24576..32768]
  %r30 = read %b[24576..32768]
  %m32 = mma %r16, %r17, %sum0
  %m33 = mma %r16, %r18, %sum1
  %m34 = mma %r19, %r17, %sum2
  %m35 = mma %r19, %r18, %sum3
  %m36 = mma %r16, %r17, %m32
  %m37 = mma %r16, %r18, %m33
  %m38 = mma %r19, %r17, %m34
  %m39 = mma %r19, %r18, %m35
  %m40 = mma %r20, %r21, %m36
  %m41 = mma %r20, %r22, %m37
  %m42 = mma %r23, %r21, %m38
  %m43 = mma %r23, %r22, %m39
  %m44 = mma %r20, %r21, %m40
  %m45 = mma %r20, %r22, %m41
  %m46 = mma %r23, %r21, %m42
  %m47 = mma %r23, %r22, %m43
  %m48 = mma %r24, %r25, %m44
  %m49 = mma %r24, %r26, %m45
  %m50 = mma %r27, %r25, %m46
  %m51 = mma %r27, %r26, %m47
  %m52 = mma %r24, %r25, %m48
  %m53 = mma %r24, %r26, %m49
  %m54 = mma %r27, %r25, %m50
  %m55 = mma %r27, %r26, %m51
  %m56 = mma %r28, %r29, %m52
  %m57 = mma %r28, %r30, %m53
  %m58 = mma %r31, %r29, %m54
  %m59 = mma %r31, %r30, %m55
  %m60 = mma %r28, %r29, %m56
  %m61 = mma %r28, %r30, %m57
  %m62 = mma %r31, %r29, %m58
  %m63 = mma %r31, %r30, %m59
  global_write %m60
  global_write %m61
  global_write %m62
  global_write %m63
}
