# The second call writes what waves still read for the first.
# EXPECT: race WAR 7 -> 5
func @stage {
  shared %s : 512
  write %s
  barrier
  read %s
}
kernel @twice waves=4 {
  call @stage
  call @stage
}
