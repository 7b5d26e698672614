# Told to come after a copy, and without counts, a barrier waits for everything.
# EXPECT: clean
kernel @drains waves=4 {
  shared %a : 512
  shared %b : 512
  %t = gather_to_lds %a
  tensor_load_to_lds %b
  barrier after %t
  read %a
  read %b
}
