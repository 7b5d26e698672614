# Flash attention, forward, modulo-scheduled: iteration j computes the scores of tile j+1
# while the softmax and P·V of tile j go on. K and V have two slots, K runs a tile ahead of
# V; with two slots for P as well, the waves have to meet but once an iteration.
kernel @attention_modulo waves=8 {
  shared %k : 2 x 8192
  shared %v : 2 x 8192
  shared %p : 2 x 8192
  # prologue: Q and the scores of tile 0 in registers
  %q = global_read
  %gk0 = global_read
  %gk1 = global_read
  %gv0 = global_read
  %gk2 = global_read
  %gv1 = global_read
  write %k[0], %gk0
  %k0 = read %k[0]
  write %k[1], %gk1
  write %v[0], %gv0
  %s0 = mma %q, %k0
  loop %j in 0..31 carry %gk = %gk2, %gv = %gv1, %s = %s0 {
    # K of tile j+3 and V of tile j+2 set off; beyond the end they are not used
    %gkn = global_read
    %gvn = global_read
    # softmax of tile j; K of tile j+1 is read, that of tile j+2 takes the free slot
    %kt = read %k[(%j + 1) % 2]
    %peak = compute %s
    %pr = compute %s, %peak
    write %p[%j % 2], %pr
    write %k[%j % 2], %gk
    # the output so far goes to the new maximum
    loop %m in 0..8 {
      compute %peak
    }
    # scores of tile j+1
    loop %n in 0..8 {
      mma %q, %kt
      %sn = mma %q, %kt
    }
    # P·V of tile j; V of tile j+1 takes the free slot
    %pt = read %p[%j % 2]
    %vt = read %v[%j % 2]
    loop %o in 0..8 {
      mma %pt, %vt
      mma %pt, %vt
    }
    write %v[(%j + 1) % 2], %gv
    next %gkn, %gvn, %sn
  }
  # epilogue: the last tile
  %peakl = compute %s
  %prl = compute %s, %peakl
  write %p[1], %prl
  %ptl = read %p[1]
  %vtl = read %v[1]
  mma %ptl, %vtl
}
