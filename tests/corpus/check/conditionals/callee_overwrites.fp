# What a call would do, written out: the caller's pending read and the callee's first write.
# EXPECT: race WAR 6 -> 8
kernel @callee_overwrites waves=4 {
  shared %s : 256 at 0
  shared %f.s : 256 at 0
  read %s
  if %called {
    write %f.s
    barrier
    read %f.s
  }
}
