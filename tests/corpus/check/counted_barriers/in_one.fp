# Wait, fence and rendezvous in one operation.
# EXPECT: clean
kernel @in_one waves=4 {
  shared %a : 512
  gather_to_lds %a
  barrier load=0
  read %a
}
