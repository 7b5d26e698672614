# Each of many parameters is asked for twice and then never again: they need not be followed all at once.
# EXPECT: clean
kernel @many waves=4 {
  shared %a : 64
  param %p0
  param %p1
  param %p2
  param %p3
  param %p4
  param %p5
  param %p6
  param %p7
  param %p8
  param %p9
  param %p10
  param %p11
  if %p0 % 2 == 0 {
    write %a
  }
  if %p0 % 2 == 1 {
    read %a
  }
  barrier
  if %p1 % 2 == 0 {
    write %a
  }
  if %p1 % 2 == 1 {
    read %a
  }
  barrier
  if %p2 % 2 == 0 {
    write %a
  }
  if %p2 % 2 == 1 {
    read %a
  }
  barrier
  if %p3 % 2 == 0 {
    write %a
  }
  if %p3 % 2 == 1 {
    read %a
  }
  barrier
  if %p4 % 2 == 0 {
    write %a
  }
  if %p4 % 2 == 1 {
    read %a
  }
  barrier
  if %p5 % 2 == 0 {
    write %a
  }
  if %p5 % 2 == 1 {
    read %a
  }
  barrier
  if %p6 % 2 == 0 {
    write %a
  }
  if %p6 % 2 == 1 {
    read %a
  }
  barrier
  if %p7 % 2 == 0 {
    write %a
  }
  if %p7 % 2 == 1 {
    read %a
  }
  barrier
  if %p8 % 2 == 0 {
    write %a
  }
  if %p8 % 2 == 1 {
    read %a
  }
  barrier
  if %p9 % 2 == 0 {
    write %a
  }
  if %p9 % 2 == 1 {
    read %a
  }
  barrier
  if %p10 % 2 == 0 {
    write %a
  }
  if %p10 % 2 == 1 {
    read %a
  }
  barrier
  if %p11 % 2 == 0 {
    write %a
  }
  if %p11 % 2 == 1 {
    read %a
  }
  barrier
}
