# The only wave that reads uses what it has read.
# EXPECT: clean
kernel @one_wave_reads_and_uses waves=4 {
  shared %a : 64
  if wave == 0 {
    %x = read %a
    compute %x
  }
  workgroup_barrier
  write %a
}
