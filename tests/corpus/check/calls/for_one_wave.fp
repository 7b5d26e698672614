# One wave alone runs the function; nobody else touches its bytes.
# EXPECT: clean
func @alone {
  shared %s : 64
  write %s
  read %s
}
kernel @for_one_wave waves=4 {
  if wave == 0 {
    call @alone
    call @alone
  }
}
