# A part that moves on with the loop, in some slot.
# EXPECT: clean
kernel @unknown_slots_by_iteration waves=4 {
  shared %s : 3 x 256
  loop %i in 0..8 {
    write %s[?][%i * 16..%i * 16 + 16]
    read %s[? // 2][%i * 16 + 128..%i * 16 + 144]
  }
}
