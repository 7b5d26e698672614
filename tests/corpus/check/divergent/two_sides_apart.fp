# Each side has its half.
# EXPECT: clean
kernel @two_sides_apart waves=4 {
  shared %a : 1024
  if wave < 2 {
    write %a[0..512]
  } else {
    read %a[512..1024]
  }
}
