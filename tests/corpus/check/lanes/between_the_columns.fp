# Even and odd words interleave and never meet.
# EXPECT: clean
kernel @between_the_columns waves=4 {
  shared %a : 512
  write %a[lane * 8..lane * 8 + 4]
  read %a[lane * 8 + 4..lane * 8 + 8]
}
