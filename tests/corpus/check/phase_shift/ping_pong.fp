# The upper half runs one rendezvous behind. Two barriers between the accesses, the first one fenced: ordered.
# EXPECT: clean
kernel @ping_pong waves=4 {
  shared %a : 1024
  if wave >= 2 {
    workgroup_barrier
  }
  loop %i in 0..3 {
    %x = read %a
    barrier
    mma %x
    barrier
    write %a
    barrier
    compute
    barrier
  }
  if wave < 2 {
    workgroup_barrier
  }
}
