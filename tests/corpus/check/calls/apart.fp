# Two calls whose frames lie apart.
# EXPECT: clean
func @stage {
  shared %s : 512 at 0
  write %s
}
kernel @apart waves=4 {
  call @stage at 0
  call @stage at 512
}
