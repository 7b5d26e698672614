# The barrier at the top serves write -> read; a placement that looks at nothing else forgets read -> write.
# EXPECT: race WAR 7 -> 8
kernel @only_raw_considered waves=4 {
  shared %a : 1024
  loop %i in 0..8 {
    barrier
    read %a
    write %a
  }
}
