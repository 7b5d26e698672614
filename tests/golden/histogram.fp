# Counters are cleared on one way only, counted up and read out.
kernel @histogram waves=4 {
  shared %bins : 1024
  if %clear {
    write %bins
  } else {
    compute
  }
  loop %i in 0..? {
    atomic %bins
  }
  barrier  # all counts are in
  %sum = read %bins
  global_write %sum
}
