# The same with copies straight into shared memory, two tiles ahead, and instructions of 32 x 32 x 16.
kernel @gemm_async waves=8 {
  shared %a : 3 x 16384
  shared %b : 3 x 32768
  gather_to_lds %a[0][0..8192]
  gather_to_lds %a[0][8192..16384]
  gather_to_lds %b[0][0..8192]
  gather_to_lds %b[0][8192..16384]
  gather_to_lds %b[0][16384..24576]
  gather_to_lds %b[0][24576..32768]
  gather_to_lds %a[1][0..8192]
  gather_to_lds %a[1][8192..16384]
  gather_to_lds %b[1][0..8192]
  gather_to_lds %b[1][8192..16384]
  gather_to_lds %b[1][16384..24576]
  gather_to_lds %b[1][24576..32768]
  %c0 = compute
  loop %i in 0..? carry %s = 0, %sum0 = %c0, %sum1 = %c0, %sum2 = %c0, %sum3 = %c0 {
    gather_to_lds %a[(%s + 2) % 3][0..8192]
    gather_to_lds %a[(%s + 2) % 3][8192..16384]
    gather_to_lds %b[(%s + 2) % 3][0..8192]
    gather_to_lds %b[(%s + 2) % 3][8192..16384]
    gather_to_lds %b[(%s + 2) % 3][16384..24576]
    gather_to_lds %b[(%s + 2) % 3][24576..32768]
    %r0 = read %a[%s][0..4096]
    %r3 = read %a[%s][0..4096]
    %r1 = read %b[%s][0..8192]
    %r2 = read %b[%s][0..8192]
    %r4 = read %a[%s][4096..8192]
    %r7 = read %a[%s][4096..8192]
    %r5 = read %b[%s][8192..16384]
    %r6 = read %b[%s][8192..16384]
    %r8 = read %a[%s][8192..12288]
    %r11 = read %a[%s][8192..12288]
    %r9 = read %b[%s][16384..24576]
    %r10 = read %b[%s][16384..24576]
    %r12 = read %a[%s][12288..16384]
    %r15 = read %a[%s][12288..16384]
    %r13 = read %b[%s][24576..32768]
    %r14 = read %b[%s][24576..32768]
    %m0 = mma %r0, %r1, %sum0
    %m1 = mma %r0, %r2, %sum1
    %m2 = mma %r3, %r1, %sum2
    %m3 = mma %r3, %r2, %sum3
    %m4 = mma %r4, %r5, %m0
    %m5 = mma %r4, %r6, %m1
    %m6 = mma %r7, %r5, %m2
    %m7 = mma %r7, %r6, %m3
    %m8 = mma %r8, %r9, %m4
    %m9 = mma %r8, %r10, %m5
    %m10 = mma %r11, %r9, %m6
    %m11 = mma %r11, %r10, %m7
    %m12 = mma %r12, %r13, %m8
    %m13 = mma %r12, %r14, %m9
    %m14 = mma %r15, %r13, %m10
    %m15 = mma %r15, %r14, %m11
    next (%s + 1) % 3, %m12, %m13, %m14, %m15
  }
  %r16 = read %a[(%s + 0) % 3][0..4096]
  %r19 = read %a[(%s + 0) % 3][0..4096]
  %r17 = read %b[(%s + 0) % 3][0..8192]
  %r18 = read %b[(%s + 0) % 3][0..8192]
  %r20 = read %a[(%s + 0) % 3][4096..8192]
  %r23 = read %a[(%s + 0) % 3][4096..8192]
  %r21 = read %b[(%s + 0) % 3][8192..16384]
  %r22 = read %b[(%s + 0) % 3][8192..16384]
  %r24 = read %a[(%s + 0) % 3][8192..12288]
  %r27 = read %a[(%s + 0) % 3][8192..12288]
  %r25 = read %b[(%s + 0) % 3][16384..24576]
  %r26 = read %b[(%s + 0) % 3][16384..24576]
  %r28 = read %a[(%s + 0) % 3][12288..16384]
  %r31 = read %a[(%s + 0) % 3][12288..16384]
  %r29 = read %b[(%s + 0) % 3][24576..32768]
  %r30 = read %b[(%s + 0) % 3][24576..32768]
  %m16 = mma %r16, %r17, %sum0
  %m17 = mma %r16, %r18, %sum1
  %m18 = mma %r19, %r17, %sum2
  %m19 = mma %r19, %r18, %sum3
  %m20 = mma %r20, %r21, %m16
  %m21 = mma %r20, %r22, %m17
  %m22 = mma %r23, %r21, %m18
  %m23 = mma %r23, %r22, %m19
  %m24 = mma %r24, %r25, %m20
  %m25 = mma %r24, %r26, %m21
  %m26 = mma %r27, %r25, %m22
  %m27 = mma %r27, %r26, %m23
  %m28 = mma %r28, %r29, %m24
  %m29 = mma %r28, %r30, %m25
  %m30 = mma %r31, %r29, %m26
  %m31 = mma %r31, %r30, %m27
  %r32 = read %a[(%s + 1) % 3][0..4096]
  %r35 = read %a[(%s + 1) % 3][0..4096]
  %r33 = read %b[(%s + 1) % 3][0..8192]
  %r34 = read %b[(%s + 1) % 3][0..8192]
  %r36 = read %a[(%s + 1) % 3][4096..8192]
  %r39 = read %a[(%s + 1) % 3][4096..8192]
  %r37 = read %b[(%s + 1) % 3][8192..16384]
  %r38 = read %b[(%s + 1) % 3][8192..16384]
  %r40 = read %a[(%s + 1) % 3][8192..12288]
  %r43 = read %a[(%s + 1) % 3][8192..12288]
  %r41 = read %b[(%s + 1) % 3][16384..24576]
  %r42 = read %b[(%s + 1) % 3][16384..24576]
  %r44 = read %a[(%s + 1) % 3][12288..16384]
  %r47 = read %a[(%s + 1) % 3][12288..16384]
  %r45 = read %b[(%s + 1) % 3][24576..32768]
  %r46 = read %b[(%s + 1) % 3][24576..32768]
  %m32 = mma %r32, %r33, %m28
  %m33 = mma %r32, %r34, %m29
  %m34 = mma %r35, %r33, %m30
  %m35 = mma %r35, %r34, %m31
  %m36 = mma %r36, %r37, %m32
  %m37 = mma %r36, %r38, %m33
  %m38 = mma %r39, %r37, %m34
  %m39 = mma %r39, %r38, %m35
  %m40 = mma %r40, %r41, %m36
  %m41 = mma %r40, %r42, %m37
  %m42 = mma %r43, %r41, %m38
  %m43 = mma %r43, %r42, %m39
  %m44 = mma %r44, %r45, %m40
  %m45 = mma %r44, %r46, %m41
  %m46 = mma %r47, %r45, %m42
  %m47 = mma %r47, %r46, %m43
  global_write %m44
  global_write %m45
  global_write %m46
  global_write %m47
}
