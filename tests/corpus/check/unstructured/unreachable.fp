# Nothing leads to ^dead.
# EXPECT: clean
kernel @unreachable waves=4 {
  shared %a : 1024
  write %a
  br ^exit
^dead:
  read %a
  br ^exit
^exit:
  return
}
