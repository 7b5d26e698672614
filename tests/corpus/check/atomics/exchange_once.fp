# One operation, run once: the waves share its work.
# EXPECT: clean
kernel @exchange_once waves=4 {
  shared %a : 64
  atomic %a update=cas
}
