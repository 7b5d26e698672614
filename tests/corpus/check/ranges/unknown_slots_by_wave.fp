# Each wave has its part of every slot; the last one is another wave's.
# EXPECT: race RAW 5 -> 8
kernel @unknown_slots_by_wave waves=4 {
  shared %s : 3 x 256
  write %s[?][wave * 16..wave * 16 + 16]
  read %s[?][wave * 16..wave * 16 + 16]
  read %s[?][wave * 16 + 64..wave * 16 + 80]
  read %s[?][(wave + 1) % 4 * 16..(wave + 1) % 4 * 16 + 16]
}
