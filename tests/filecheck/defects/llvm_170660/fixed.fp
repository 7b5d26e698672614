# Eight copies stay in flight, the first has arrived.
# RUN: fencepost check %s
# RUN: fencepost insert %s 2>&1 | filecheck %s --check-prefix=SAME
kernel @ninth waves=4 {
  shared %s : 9 x 1024
  gather_to_lds %s[0]
  gather_to_lds %s[1]
  gather_to_lds %s[2]
  gather_to_lds %s[3]
  gather_to_lds %s[4]
  gather_to_lds %s[5]
  gather_to_lds %s[6]
  gather_to_lds %s[7]
  gather_to_lds %s[8]
  barrier load=8
  read %s[0]
}
# CHECK: @ninth: no race, no deadlock
# SAME: @ninth: 0 barriers inserted
