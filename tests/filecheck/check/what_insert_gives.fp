# Whatever strategy puts the barriers in, check finds nothing left.
# RUN: fencepost insert %s --strategy minimize | fencepost check -
# RUN: fencepost insert %s --strategy eager | fencepost check -
# RUN: fencepost insert %s --strategy walk | fencepost check -
kernel @what_insert_gives waves=4 {
  shared %a : 1024
  shared %b : 2 x 1024
  shared %s : 64 at 0
  shared %t : 64 at 32
  write %a
  loop %i in 0..? {
    gather_to_lds %b[0]
    read %a
    if %c {
      write %s
      read %t
    } else {
      atomic %t
    }
    read %b[0]
    write %b[1]
  }
  if wave == 0 {
    write %a
  }
  read %b
  read %a
}
# CHECK: @what_insert_gives: no race, no deadlock
