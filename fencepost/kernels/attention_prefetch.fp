# Flash attention, forward, with prefetch: the next tiles of K and V are fetched while the
# current ones are at work. The next K is written once the waves have met for P, when all of
# them have read this one; the next V at the end of the iteration.
kernel @attention_prefetch waves=8 {
  shared %k : 16384
  shared %v : 16384
  shared %p : 8192
  # Q stays in registers; the first tiles
  %q = global_read
  %gk0 = global_read
  %gv0 = global_read
  write %k, %gk0
  write %v, %gv0
  loop %j in 0..? {
    # the next tiles set off; behind the last one they are not used
    %gk = global_read
    %gv = global_read
    # scores = Q·K
    %k0 = read %k[0..8192]
    %k1 = read %k[8192..16384]
    loop %m in 0..8 {
      mma %q, %k0
      %s = mma %q, %k1
    }
    # softmax; P goes through shared memory to change its layout
    %peak = compute %s
    %pr = compute %s, %peak
    write %p, %pr
    # meanwhile the output so far goes to the new maximum, and the rows are summed up
    loop %n in 0..8 {
      compute %peak
    }
    compute %pr
    compute %pr
    compute %pr
    compute %pr
    # output = P·V
    %pt = read %p
    %v0 = read %v[0..8192]
    %v1 = read %v[8192..16384]
    write %k, %gk
    loop %o in 0..8 {
      mma %pt, %v0
    }
    mma %pt, %v1
    mma %pt, %v1
    mma %pt, %v1
    mma %pt, %v1
    write %v, %gv
  }
}
