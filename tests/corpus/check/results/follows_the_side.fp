# What happened on a side is known from its result: the slot that was written is not the one that is read.
# EXPECT: clean
kernel @follows_the_side waves=4 {
  shared %a : 2 x 64
  if %c gives %n {
    write %a[0]
    give 1
  } else {
    write %a[1]
    give 0
  }
  read %a[%n]
}
