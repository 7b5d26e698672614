# The barrier stands outside the divergent conditional, where every wave meets it.
# EXPECT: clean
kernel @some_write_all_read_fixed waves=4 {
  shared %a : 1024
  if wave < 2 {
    write %a
  }
  barrier
  read %a
}
