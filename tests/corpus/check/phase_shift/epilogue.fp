# Behind the closing barrier all waves are in step again.
# EXPECT: clean
kernel @epilogue waves=4 {
  shared %a : 1024
  if wave >= 2 {
    workgroup_barrier
  }
  write %a
  barrier
  if wave < 2 {
    workgroup_barrier
  }
  read %a
}
