# A commit behind each copy makes two groups an iteration, and load=1 leaves only the newest %b: still enough.
# EXPECT: clean
kernel @pipeline_commits_too_often waves=4 {
  shared %a : 3 x 512
  shared %b : 3 x 512
  loop %i in 0..? {
    gather_to_lds %a[%i % 3]
    commit load
    gather_to_lds %b[%i % 3]
    commit load
    wait_count load=1
    barrier
    read %a[%i % 3]
  }
}
