# On NVIDIA the bytes are the object's until it is invalidated.
# EXPECT: deadlock lifetime 5 6
kernel @made_again_before_inval waves=1 {
  shared %o : 8
  mbarrier_init %o count=1 until=inval
  mbarrier_init %o count=1 until=inval
}
