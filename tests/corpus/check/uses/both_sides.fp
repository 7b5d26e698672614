# Either side uses the result.
# EXPECT: clean
kernel @both_sides waves=4 {
  shared %a : 64
  %x = read %a
  if %some {
    compute %x
  } else {
    global_write %x
  }
  workgroup_barrier
  write %a
}
