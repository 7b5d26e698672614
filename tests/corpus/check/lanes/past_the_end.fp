# The last of 64 lanes reaches beyond the buffer; 32 would not.
# EXPECT: out-of-range 6
kernel @past_the_end waves=1 {
  shared %a : 128
  read %a[lane32 * 4..lane32 * 4 + 4]
  read %a[lane * 4..lane * 4 + 4]
}
