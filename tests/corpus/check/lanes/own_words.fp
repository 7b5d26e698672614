# Every lane of every wave has its own four bytes: nobody else touches them.
# EXPECT: clean
kernel @own_words waves=4 {
  shared %a : 1024
  write %a[wave * 256 + lane * 4..wave * 256 + lane * 4 + 4]
  read %a[wave * 256 + lane * 4..wave * 256 + lane * 4 + 4]
}
